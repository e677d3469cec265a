import { RecentBytes } from '@webloom/core'
import type { Dispatcher, Pool } from 'undici'
import { Recent } from './recent.ts'
import { SiteConnections } from './site-connections.ts'
import type { ConnectingOptions } from './site-connector.ts'

// 24 MiB: 220 sites with a connection over TLS each.
const BYTES_MAX = 25_165_824

// How long idle connections are kept to a site that has closed one as it was used again, and for how long that is remembered. If it does so
// again meanwhile, none is used twice.
const KEEP_ALIVE_MS_OF_CLOSERS = 500
const CLOSERS_REMEMBERED_MS = 10 * 60_000
const CLOSERS_MAX = 1000

export interface ConnectedSitesOptions {
  readonly connecting: ConnectingOptions
  /** Apply to each connection. */
  readonly pool: Pool.Options
  /** How many sites have their connections kept at once. */
  readonly sitesMax: number
  /** Default: BYTES_MAX. */
  readonly bytesMax?: number
}

/** A site that has closed connections as they were used again. */
interface Closer {
  readonly times: number
  /** The last time, by `performance.now()`. */
  readonly atMs: number
}

/**
 * The connections to sites, kept open for a while to be used again. Past a bound the connections to the site used longest
 * ago are closed once they are idle, so that a crawl of many hosts keeps no connections that it will never use. Nothing is kept of
 * a site whose connections have closed.
 *
 * Connections without TLS weigh little, so that their number has a bound of its own. What V8 has kept while a thousand sites were
 * connected to is old for it: that is collected at far greater cost than what is young, and only when the old has grown by half.
 */
export class ConnectedSites {
  readonly #sites: RecentBytes<string, SiteConnections>
  readonly #connecting: ConnectingOptions
  readonly #pool: Pool.Options
  readonly #closers = new Recent<Closer>(CLOSERS_MAX)

  constructor({ connecting, pool, sitesMax, bytesMax = BYTES_MAX }: ConnectedSitesOptions) {
    this.#connecting = connecting
    this.#pool = pool
    // Requests under way end first. A connection that breaks while it closes costs nothing.
    this.#sites = new RecentBytes(bytesMax, (_, site) => void site.close().catch(() => {}), sitesMax)
  }

  /** How many sites have connections, or are being connected to. */
  get kept(): number {
    return this.#sites.size
  }

  /** Returns whether a connection to the site is open, for which no address is needed. It is `to` that uses it. */
  isConnected(origin: string, localAddress?: string): boolean {
    const site = this.#sites.peek(keyOf(origin, localAddress))
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
      pool: poolFor(this.#closer(key), this.#pool),
      onChange: () => this.#weigh(key, site),
    })
    this.#sites.set(key, site, site.bytes)
    return site
  }

  /**
   * Notes that the site has closed a connection as it was used again: for ten minutes its idle ones are kept for half a second, and
   * after another time not at all.
   *
   * @param closed the dispatcher of that connection. `to` returns another one from now on; what it has under way ends there
   */
  noteCloser(origin: string, localAddress: string | undefined, closed: Pick<Dispatcher, 'dispatch'>): void {
    const key = keyOf(origin, localAddress)
    const known = this.#sites.peek(key)
    const { times = 0 } = this.#closer(key) ?? {}
    // Of several that are closed at once the first has been noted, and another dispatcher is there.
    const isNews = known === undefined || known === closed
    this.#closers.set(key, { times: isNews ? times + 1 : times, atMs: performance.now() })
    if (!known || !isNews) return
    this.#sites.delete(key)
    void known.close().catch(() => {})
  }

  async close(): Promise<void> {
    const sites = [...this.#sites.entries()]
    for (const [key] of sites) this.#sites.delete(key)
    await Promise.all(sites.map(([, site]) => site.destroy()))
  }

  #closer(key: string): Closer | undefined {
    const closer = this.#closers.get(key)
    return closer && performance.now() - closer.atMs < CLOSERS_REMEMBERED_MS ? closer : undefined
  }

  /** Its connections have become more or fewer. */
  #weigh(key: string, site: SiteConnections): void {
    const known = this.#sites.peek(key)
    if (site.isClosing || (known && known !== site)) return
    if (site.isIdle) this.#sites.delete(key)
    else this.#sites.set(key, site, site.bytes)
  }
}

function keyOf(origin: string, localAddress: string | undefined): string {
  return localAddress === undefined ? origin : `${origin} ${localAddress}`
}

function poolFor(closer: Closer | undefined, pool: Pool.Options): Pool.Options {
  if (!closer) return pool
  // undici then sends `Connection: close`.
  if (closer.times > 1) return { ...pool, pipelining: 0 }
  return {
    ...pool,
    keepAliveTimeout: KEEP_ALIVE_MS_OF_CLOSERS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS_OF_CLOSERS,
  }
}
