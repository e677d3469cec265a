import { type Dispatcher, Pool, type Pool as PoolType, ProxyAgent } from 'undici'
import type { ProxyAddress } from './proxy-address.ts'

export interface ProxyAgentsOptions {
  /** Proxies whose connections are kept at once. */
  readonly agentsMax: number
  readonly connectTimeoutMs: number
  readonly verifyCertificates: boolean
  /** What holds for each connection, by way of a proxy or not. */
  readonly pool: PoolType.Options
}

/** The connections by way of proxies. Past the bound those of the proxy used longest ago are closed when they are idle. */
export class ProxyAgents {
  readonly #options: ProxyAgentsOptions
  // Begins with the one used longest ago.
  readonly #agents = new Map<string, ProxyAgent>()

  constructor(options: ProxyAgentsOptions) {
    this.#options = options
  }

  /** http goes through the proxy as it is, https through a tunnel (CONNECT). */
  agent(proxy: ProxyAddress): Dispatcher {
    const key = `${proxy.url} ${proxy.authorization ?? ''}`
    const agent = this.#agents.get(key) ?? this.#open(proxy)
    this.#agents.delete(key)
    this.#agents.set(key, agent)
    this.#closeOldest()
    return agent
  }

  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()))
    this.#agents.clear()
  }

  #open({ url, authorization }: ProxyAddress): ProxyAgent {
    const { connectTimeoutMs, verifyCertificates, pool } = this.#options
    const tls = { rejectUnauthorized: verifyCertificates }
    return new ProxyAgent({
      ...pool,
      uri: url,
      ...(authorization !== undefined && { token: authorization }),
      connectTimeout: connectTimeoutMs,
      requestTls: tls,
      proxyTls: tls,
      // undici hands on none of the options to the connections that need no tunnel.
      factory: (origin, options) => new Pool(origin, { ...pool, ...(options as object) }),
    })
  }

  #closeOldest(): void {
    if (this.#agents.size <= this.#options.agentsMax) return
    const [key, agent] = this.#agents.entries().next().value!
    this.#agents.delete(key)
    // What is still on its way ends first. A connection that breaks meanwhile is nobody's loss.
    agent.close().catch(() => {})
  }
}
