import {
  type Crawler,
  DownloadError,
  type DownloaderMiddleware,
  type JsonValue,
  type Logger,
  NotConfigured,
  type Request,
  type Response,
  SettingsError,
} from '@webloom/core'
import { EnvironmentProxies } from '../proxies/environment-proxies.ts'
import { type ProxyAddress, proxyAddress, proxyOf, proxyShown } from '../proxies/proxy-address.ts'
import { ProxyRotation, type RotatedProxy } from '../proxies/proxy-rotation.ts'

export interface HttpProxyMiddlewareOptions {
  /** Chooses the proxy of requests that name none. */
  readonly rotation?: ProxyRotation
  /** The same, where there is no rotation. */
  readonly environment?: EnvironmentProxies
  readonly authEncoding: 'latin-1' | 'utf-8'
  /** Warns of a proxy that rests, or that refuses user and password (407). Absent: no warnings. */
  readonly logger?: Logger
}

// A bound, as requests may name any number of proxies.
const CLOSED_MAX = 100

/** The request's meta and header before its proxy was written into them. */
interface Before {
  readonly proxy: JsonValue | undefined
  readonly authorization: readonly string[]
  readonly rotated: RotatedProxy | undefined
}

/**
 * Chooses the proxy of each request: `meta.proxy`, else the next of PROXY_LIST, else the proxy that the environment names.
 * `meta.proxy` null sends the request out directly.
 *
 * While a request is on its way `meta.proxy` holds the proxy without user and password, and the header Proxy-Authorization
 * holds those. Both are restored afterwards: a retry may go another way, and passwords must not get into a queue.
 */
export class HttpProxyMiddleware implements DownloaderMiddleware {
  readonly alsoForRobotsTxt = true
  readonly #options: HttpProxyMiddlewareOptions
  readonly #before = new WeakMap<Request, Before>()
  readonly #closed = new Set<string>()

  constructor(options: HttpProxyMiddlewareOptions) {
    this.#options = options
  }

  static fromCrawler({ settings, stats, logger }: Crawler): HttpProxyMiddleware {
    if (!settings.getBool('HTTPPROXY_ENABLED')) throw new NotConfigured('HTTPPROXY_ENABLED is false')
    const authEncoding = settings.get('HTTPPROXY_AUTH_ENCODING')
    const list = settings.getList('PROXY_LIST').map(String)
    if (list.length === 0) {
      const environment = new EnvironmentProxies(process.env, authEncoding)
      return new this({ environment, authEncoding, logger })
    }
    const rotation = new ProxyRotation(proxiesOf('PROXY_LIST', list, authEncoding), {
      failuresMax: settings.getInt('PROXY_FAILURES_MAX'),
      banMs: settings.getMs('PROXY_BAN'),
      stats,
    })
    return new this({ rotation, authEncoding, logger })
  }

  processRequest(request: Request): void {
    const named = request.hasMeta ? request.meta.proxy : undefined
    const rotated = named === undefined ? this.#options.rotation?.next() : undefined
    const address = rotated?.address ?? this.#address(request, named)
    const authorization = request.headers.getAll('proxy-authorization')
    if (!address && authorization.length === 0) return
    this.#before.set(request, { proxy: named, authorization, rotated })
    write(request, address)
  }

  processResponse(request: Request, response: Response): Response {
    if (response.status === 407) this.#tellClosed(request)
    const rotated = this.#restore(request)
    // The answer is from the cache, which is nearer the network: no proxy was asked.
    if (response.flags.includes('cached')) return response
    if (rotated && response.status === 407) this.#failed(rotated)
    else if (rotated) this.#options.rotation?.succeeded(rotated)
    return response
  }

  processException(request: Request, error: unknown): void {
    const rotated = this.#restore(request)
    if (rotated && isOfTheWay(error)) this.#failed(rotated)
  }

  #failed(rotated: RotatedProxy): void {
    const rests = this.#options.rotation?.failed(rotated)
    const { address, failuresInARow } = rotated
    if (rests)
      this.#options.logger?.warn(
        { proxy: proxyShown(address), failuresInARow },
        'a proxy of PROXY_LIST keeps failing; it is not used for PROXY_BAN',
      )
  }

  /** Logs each such proxy once, as it refuses every request. */
  #tellClosed(request: Request): void {
    const address = proxyOf(request)
    const proxy = address && proxyShown(address)
    if (proxy === undefined || this.#closed.has(proxy) || this.#closed.size >= CLOSED_MAX) return
    this.#closed.add(proxy)
    this.#options.logger?.warn(
      { proxy, url: request.url },
      'the proxy asks for a user and password, or refuses those given (407): write them into its URL, http://user:password@host:port',
    )
  }

  #address(request: Request, named: JsonValue | undefined): ProxyAddress | undefined {
    const { environment, authEncoding } = this.#options
    if (named === undefined) return environment?.proxyFor(request.url)
    return typeof named === 'string' && named !== '' ? proxyAddress(named, authEncoding) : undefined
  }

  #restore(request: Request): RotatedProxy | undefined {
    const before = this.#before.get(request)
    if (!before) return undefined
    this.#before.delete(request)
    if (before.proxy === undefined) delete request.meta.proxy
    else request.meta.proxy = before.proxy
    if (before.authorization.length > 0) request.headers.set('proxy-authorization', before.authorization)
    else request.headers.delete('proxy-authorization')
    return before.rotated
  }
}

function write(request: Request, address: ProxyAddress | undefined): void {
  if (!address) {
    // The header was for a proxy that is not used; the site must not see it.
    request.headers.delete('proxy-authorization')
    return
  }
  request.meta.proxy = address.url
  if (address.authorization !== undefined) request.headers.set('proxy-authorization', address.authorization)
}

// How a proxy that is down, slow or unwilling fails. A body that is too large is the site's fault.
const KINDS_OF_THE_WAY: ReadonlySet<string> = new Set([
  'CannotResolveHostError',
  'DownloadConnectionRefusedError',
  'DownloadFailedError',
  'DownloadTimeoutError',
])

function isOfTheWay(error: unknown): boolean {
  return error instanceof DownloadError && KINDS_OF_THE_WAY.has(error.kind)
}

function proxiesOf(
  setting: string,
  list: readonly string[],
  authEncoding: 'latin-1' | 'utf-8',
): ProxyAddress[] {
  const problems: string[] = []
  const addresses = list.flatMap((text, index) => {
    try {
      return [proxyAddress(text, authEncoding)]
    } catch (error) {
      problems.push(`${setting}[${index}]: ${(error as Error).message}`)
      return []
    }
  })
  if (problems.length > 0) throw new SettingsError(problems)
  return addresses
}
