import type { Dispatcher } from 'undici'
import type { ProxyAddress } from '../proxies/proxy-address.ts'
import { Recent } from './recent.ts'
import { type ConnectingOptions, lookupBy } from './site-connector.ts'
import { type Connector, Pool, type PoolOptions, ProxyAgent } from './undici-parts.ts'
import { watchingUse } from './used-connections.ts'

export interface ProxyAgentsOptions {
  /** How many proxies have their connections kept at once. */
  readonly agentsMax: number
  readonly connecting: ConnectingOptions
  /** Options of each connection, through a proxy or not. */
  readonly pool: PoolOptions
}

/**
 * The connections through proxies. Past the bound the connections of the proxy used longest ago are closed when they are
 * idle.
 *
 * There is no address guard here: the author chooses where a proxy is, and only the proxy knows where it connects to.
 */
export class ProxyAgents {
  readonly #options: ProxyAgentsOptions
  readonly #agents: Recent<ProxyAgent>

  constructor(options: ProxyAgentsOptions) {
    this.#options = options
    // Requests under way end first. A connection that breaks while it closes costs nothing.
    this.#agents = new Recent(options.agentsMax, (agent) => void agent.close().catch(() => {}))
  }

  /**
   * Returns the dispatcher for requests through that proxy: http is forwarded by the proxy, https goes through a tunnel
   * (CONNECT).
   *
   * @param localAddress the address that connections to the proxy come from
   */
  agent(proxy: ProxyAddress, localAddress?: string): Dispatcher {
    const key = `${proxy.url} ${proxy.authorization ?? ''} ${localAddress ?? ''}`
    const known = this.#agents.get(key)
    if (known) return known
    const agent = this.#open(proxy, localAddress)
    this.#agents.set(key, agent)
    return agent
  }

  async close(): Promise<void> {
    await Promise.all(this.#agents.clear().map((agent) => agent.destroy()))
  }

  #open({ url, authorization }: ProxyAddress, localAddress: string | undefined): ProxyAgent {
    const { addresses, tls, http2, timeoutMs } = this.#options.connecting
    const pool = { ...this.#options.pool, ...(localAddress !== undefined && { localAddress }) }
    return new ProxyAgent({
      ...pool,
      uri: url,
      allowH2: http2,
      ...(authorization !== undefined && { token: authorization }),
      connectTimeout: timeoutMs,
      requestTls: { ...tls, allowH2: http2 },
      // HTTP/1.1 to the proxy itself, as every proxy understands it.
      proxyTls: { ...tls, allowH2: false, lookup: lookupBy((hostname) => addresses.of(hostname)) },
      // undici passes none of these options to the connections to the proxy, nor to connections without a tunnel.
      clientFactory: (origin, options) => new Pool(origin, { ...pool, ...options }),
      factory: (origin, options) => {
        const given = options as { readonly connect: Connector }
        return new Pool(origin, { ...pool, ...given, connect: watchingUse(given.connect) })
      },
    })
  }
}
