import { RecentBytes } from '@webloom/core'
import type { Dispatcher, Pool } from 'undici'
import { SiteConnections } from './site-connections.ts'
import type { ConnectingOptions } from './site-connector.ts'

// 24 MiB: 1 000 sites with a connection each, or 220 with TLS.
const BYTES_MAX = 25_165_824

/**
 * The connections to sites, kept open for a while to be used again. Past the bound the connections to the site used longest
 * ago are closed once they are idle, so that a crawl of many hosts keeps no connections that it will never use. Nothing is kept of
 * a site whose connections have closed.
 */
export class ConnectedSites {
  readonly #sites: RecentBytes<string, SiteConnections>
  readonly #connecting: ConnectingOptions
  readonly #options: Pool.Options

  /** @param options apply to each connection */
  constructor(connecting: ConnectingOptions, options: Pool.Options, bytesMax = BYTES_MAX) {
    this.#connecting = connecting
    this.#options = options
    // Requests under way end first. A connection that breaks while it closes costs nothing.
    this.#sites = new RecentBytes(bytesMax, (_, site) => void site.close().catch(() => {}))
  }

  /** How many sites have connections, or are being connected to. */
  get kept(): number {
    return this.#sites.size
  }

  /** Returns whether a connection to the site is open, for which no address is needed. */
  isConnected(origin: string, localAddress?: string): boolean {
    const site = this.#sites.get(keyOf(origin, localAddress))
    return site !== undefined && site.opened > 0
  }

  /** @param localAddress the address that connections come from; absent: the operating system chooses */
  to(origin: string, localAddress?: string): Pick<Dispatcher, 'dispatch'> {
    const key = keyOf(origin, localAddress)
    const known = this.#sites.get(key)
    if (known) return known
    const site: SiteConnections = new SiteConnections({
      origin,
      localAddress,
      connecting: this.#connecting,
      pool: this.#options,
      onChange: () => this.#weigh(key, site),
    })
    this.#sites.set(key, site, site.bytes)
    return site
  }

  async close(): Promise<void> {
    const sites = [...this.#sites.entries()]
    for (const [key] of sites) this.#sites.delete(key)
    await Promise.all(sites.map(([, site]) => site.destroy()))
  }

  /** Its connections have become more or fewer. */
  #weigh(key: string, site: SiteConnections): void {
    const known = this.#sites.get(key)
    if (site.isClosing || (known && known !== site)) return
    if (site.isIdle) this.#sites.delete(key)
    else this.#sites.set(key, site, site.bytes)
  }
}

function keyOf(origin: string, localAddress: string | undefined): string {
  return localAddress === undefined ? origin : `${origin} ${localAddress}`
}
