import { type Dispatcher, Pool } from 'undici'
import { Recent } from './recent.ts'
import { type ConnectingOptions, siteConnector } from './site-connector.ts'

// An idle pool takes a few kilobytes and idle sockets, of which a process may have a thousand.
const SITES_KEPT_MAX = 500

/**
 * The connections to sites, kept open for a while to be used again. Past the bound the connections to the site used longest
 * ago are closed once they are idle, so that a crawl of many hosts keeps no connections that it will never use.
 */
export class SitePools {
  readonly #pools: Recent<Pool>
  readonly #connecting: ConnectingOptions
  readonly #options: Pool.Options

  /** @param options apply to each connection */
  constructor(connecting: ConnectingOptions, options: Pool.Options, sitesMax = SITES_KEPT_MAX) {
    this.#connecting = connecting
    this.#options = options
    // Requests under way end first. A connection that breaks while it closes costs nothing.
    this.#pools = new Recent(sitesMax, (pool) => void pool.close().catch(() => {}))
  }

  /** Returns whether a connection to the site is open, for which no address is needed. */
  isConnected(origin: string, localAddress?: string): boolean {
    const pool = this.#pools.get(keyOf(origin, localAddress))
    return pool !== undefined && pool.stats.connected > 0
  }

  /** @param localAddress the address that connections come from; absent: the operating system chooses */
  to(origin: string, localAddress?: string): Dispatcher {
    const key = keyOf(origin, localAddress)
    const known = this.#pools.get(key)
    if (known) return known
    const pool = new Pool(origin, {
      ...this.#options,
      allowH2: this.#connecting.http2,
      connect: siteConnector(origin, localAddress, this.#connecting),
      ...(localAddress !== undefined && { localAddress }),
    })
    this.#pools.set(key, pool)
    return pool
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.clear().map((pool) => pool.destroy()))
  }
}

function keyOf(origin: string, localAddress: string | undefined): string {
  return localAddress === undefined ? origin : `${origin} ${localAddress}`
}
