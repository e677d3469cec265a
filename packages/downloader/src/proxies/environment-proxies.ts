import { type ProxyAddress, proxyAddress } from './proxy-address.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Finds the proxy that the environment names for a URL, by the rules of Python's urllib: http_proxy, https_proxy, no_proxy. */
export class EnvironmentProxies {
  readonly #proxies: ReadonlyMap<string, ProxyAddress>
  readonly #bypassed: readonly string[]

  /** Throws `InvalidUrl` for a variable whose value is not a proxy's URL. */
  constructor(environment: Environment, authEncoding: 'latin-1' | 'utf-8') {
    this.#proxies = new Map(
      ['http', 'https'].flatMap((scheme) => {
        const value = variable(environment, `${scheme}_proxy`)
        return value ? [[scheme, proxyAddress(value, authEncoding)] as const] : []
      }),
    )
    this.#bypassed = (variable(environment, 'no_proxy') ?? '')
      .split(',')
      .map((name) => name.trim().toLowerCase().replace(/^\.+/, ''))
      .filter((name) => name !== '')
  }

  /** Returns undefined when the request goes out directly. */
  proxyFor(requestUrl: string): ProxyAddress | undefined {
    if (this.#proxies.size === 0) return undefined
    const url = URL.parse(requestUrl)
    const proxy = url && this.#proxies.get(url.protocol.slice(0, -1))
    return proxy && !this.#bypasses(url) ? proxy : undefined
  }

  #bypasses({ hostname, host }: URL): boolean {
    return this.#bypassed.some(
      (name) => name === '*' || [hostname, host].some((one) => one === name || one.endsWith(`.${name}`)),
    )
  }
}

/** Returns the variable's value. Lower case wins, also when it is empty: an empty value switches a proxy off. */
function variable(environment: Environment, name: string): string | undefined {
  // In a CGI process HTTP_PROXY holds the header "Proxy" that the client has sent (httpoxy).
  const mayBeUpper = name !== 'http_proxy' || environment.REQUEST_METHOD === undefined
  return environment[name] ?? (mayBeUpper ? environment[name.toUpperCase()] : undefined)
}
