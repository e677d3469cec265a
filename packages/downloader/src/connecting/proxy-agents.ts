import { type Dispatcher, Pool, type Pool as PoolType, ProxyAgent } from 'undici'
import type { ProxyAddress } from '../proxies/proxy-address.ts'
import { Recent } from './recent.ts'
import { type ConnectingOptions, lookupBy } from './site-connector.ts'

export interface ProxyAgentsOptions {
  /** Proxies whose connections are kept at once. */
  readonly agentsMax: number
  readonly connecting: ConnectingOptions
  /** What holds for each connection, by way of a proxy or not. */
  readonly pool: PoolType.Options
}

/**
 * The connections by way of proxies. Past the bound those of the proxy used longest ago are closed when they are idle.
 *
 * No guard stands here: where a proxy is, is the author's choice, and where it connects to, it alone knows.
 */
export class ProxyAgents {
  readonly #options: ProxyAgentsOptions
  readonly #agents: Recent<ProxyAgent>

  constructor(options: ProxyAgentsOptions) {
    this.#options = options
    // What is still on its way ends first. A connection that breaks meanwhile is nobody's loss.
    this.#agents = new Recent(options.agentsMax, (agent) => void agent.close().catch(() => {}))
  }

  /**
   * http goes through the proxy as it is, https through a tunnel (CONNECT).
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
      // The proxy itself is spoken to as all proxies understand it.
      proxyTls: { ...tls, allowH2: false, lookup: lookupBy((hostname) => addresses.of(hostname)) },
      // undici hands on none of the options to the connections to the proxy, nor to those that need no tunnel.
      clientFactory: (origin, options) => new Pool(origin, { ...pool, ...options }),
      factory: (origin, options) => new Pool(origin, { ...pool, ...(options as object) }),
    })
  }
}
