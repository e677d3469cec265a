import { isIP } from 'node:net'
import {
  type Awaitable,
  type Crawler,
  type HostLookup,
  hostNameOf,
  type Request,
  SettingsError,
  WebloomError,
} from '@webloom/core'
import type { Dispatcher } from 'undici'
import { type ProxyAddress, proxyOf } from '../proxies/proxy-address.ts'
import { AddressGuard } from './address-guard.ts'
import { AllowedAddresses } from './allowed-addresses.ts'
import { ConnectedSites } from './connected-sites.ts'
import { HostAddresses } from './host-addresses.ts'
import { ProxyAgents } from './proxy-agents.ts'
import { type TlsOptions, tlsFromSettings } from './tls-settings.ts'

export interface ConnectionsOptions {
  /** The operating system's when absent. */
  readonly addresses?: HostLookup
  /** Absent: every address may be connected to. */
  readonly guard?: AddressGuard
  readonly tls?: TlsOptions
  readonly http2?: boolean
  /** For one connection, its look-up and TLS included; milliseconds. */
  readonly connectTimeoutMs?: number
  /** The address that connections come from. Null: the operating system chooses. `meta.bindaddress` overrides it. */
  readonly bindAddress?: string | null
  /** Bytes of one answer's headers, names and values together. */
  readonly headerBytesMax?: number
  /** How many sites have their connections kept at once. Default: SITES_MAX_AT_LEAST. */
  readonly sitesMax?: number
  /** How many proxies (`meta.proxy`) have their connections kept at once. */
  readonly proxyAgentsMax?: number
}

// Node and many proxies close idle connections after 5 s, so ours are kept a little less. Where a server says how long it keeps them, it is two
// seconds less than that: the server counts from when its answer leaves, we from when it has come, and our next request must arrive before
// its time is up. With one second, pages of servers that were more than a second away were lost. A minute at the most.
const KEEP_ALIVE_MS = 4000
const KEEP_ALIVE_MS_MAX = 60_000
const KEEP_ALIVE_MARGIN_MS = 2000
// Some more than there is room for with TLS: a crawl of hosts with a page each by `crawl()` takes 8 % less memory and 5 % less processor
// time than with 1 000 (`benchmarks/broad-bench.ts --rows one-page-set`), and one of ten pages a host as much time as before.
const SITES_MAX_AT_LEAST = 256
// The operating system tries four times in 15 s to reach a host; TLS may take as long again.
const CONNECT_TIMEOUT_MS = 30_000

/** All connections of a crawl: to sites, and by way of proxies. */
export class Connections {
  readonly #addresses: HostLookup
  readonly #sites: ConnectedSites
  readonly #proxies: ProxyAgents
  readonly #guard: AddressGuard | undefined
  readonly #bindAddress: string | undefined

  constructor(options: ConnectionsOptions = {}) {
    const connecting = {
      addresses: options.addresses ?? new HostAddresses({ cacheSize: 10_000, timeoutMs: 60_000 }),
      tls: options.tls ?? { rejectUnauthorized: false },
      http2: options.http2 ?? true,
      timeoutMs: Math.min(options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS, CONNECT_TIMEOUT_MS),
      ...(options.guard && { guard: options.guard }),
    }
    // One deadline covers a whole download (`HttpExchange`); undici's own timeouts cover only the time between two chunks.
    const pool = {
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS_MAX,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: options.headerBytesMax ?? 65_536,
    }
    this.#addresses = connecting.addresses
    const sitesMax = options.sitesMax ?? SITES_MAX_AT_LEAST
    this.#sites = new ConnectedSites({ connecting, pool, sitesMax })
    this.#proxies = new ProxyAgents({ agentsMax: options.proxyAgentsMax ?? 100, connecting, pool })
    this.#guard = options.guard
    this.#bindAddress = options.bindAddress ?? undefined
  }

  static fromCrawler(crawler: Crawler): Connections {
    const { settings, stats, logger, startHosts, addresses = HostAddresses.fromCrawler(crawler) } = crawler
    const bindAddress = settings.get('DOWNLOAD_BIND_ADDRESS')
    if (bindAddress !== null && isIP(bindAddress) === 0)
      throw new SettingsError([
        `DOWNLOAD_BIND_ADDRESS is ${JSON.stringify(bindAddress)}; expected an IP address of this machine`,
      ])
    const allowed = new AllowedAddresses(settings.getList('PRIVATE_ADDRESSES_ALLOWED').map(String))
    return new this({
      addresses,
      guard: new AddressGuard({ allowed, stats, logger, ...(startHosts && { startHosts }) }),
      tls: tlsFromSettings(settings),
      http2: settings.getBool('HTTP2_ENABLED'),
      connectTimeoutMs: settings.getMs('DOWNLOAD_TIMEOUT'),
      bindAddress,
      headerBytesMax: settings.getInt('DOWNLOAD_MAX_HEADER_SIZE'),
      sitesMax: sitesMaxFor(settings.getInt('CONCURRENT_REQUESTS')),
      proxyAgentsMax: settings.getInt('PROXY_AGENTS_MAX'),
    })
  }

  /**
   * Asks for the addresses of the site before a connection is made, as `HostLookup.ahead` does. Returns undefined when the site's
   * name is not needed: a connection is open, or a proxy looks it up. What may be connected to is decided at the connection.
   */
  addressesAhead(request: Request, origin: string): Promise<unknown> | undefined {
    if (this.#addresses.ahead === undefined || proxyOf(request)) return undefined
    if (this.#sites.isConnected(origin, this.#localAddressOf(request))) return undefined
    const hostname = hostNameOf(origin)
    return hostname === '' || hostname.startsWith('[') ? undefined : this.#addresses.ahead(hostname)
  }

  /**
   * The dispatcher that sends the request. Rejects with WL_ADDRESS_REFUSED when a proxy would be asked for an address inside. For
   * a request that goes out directly the dispatcher checks the address itself.
   */
  dispatcherFor(request: Request, origin: string): Awaitable<Pick<Dispatcher, 'dispatch'>> {
    const localAddress = this.#localAddressOf(request)
    const proxy = proxyOf(request)
    return proxy ? this.#proxyFor(origin, proxy, localAddress) : this.#sites.to(origin, localAddress)
  }

  /** Notes that the connection was closed as it was used again, for `ConnectedSites.noteCloser`. */
  noteCloser(request: Request, origin: string, closed: Pick<Dispatcher, 'dispatch'>): void {
    // How long a proxy keeps connections says nothing about the site.
    if (proxyOf(request)) return
    this.#sites.noteCloser(origin, this.#localAddressOf(request), closed)
  }

  async close(): Promise<void> {
    await Promise.all([this.#sites.close(), this.#proxies.close()])
  }

  #localAddressOf(request: Request): string | undefined {
    return bindAddressOf(request) ?? this.#bindAddress
  }

  async #proxyFor(
    origin: string,
    proxy: ProxyAddress,
    localAddress: string | undefined,
  ): Promise<Pick<Dispatcher, 'dispatch'>> {
    await this.#guard?.permittedByProxy(origin)
    return this.#proxies.agent(proxy, localAddress)
  }
}

/** Sites that are asked something now, and as many again. */
function sitesMaxFor(concurrentRequests: number): number {
  if (concurrentRequests === 0) return Number.POSITIVE_INFINITY
  return Math.max(SITES_MAX_AT_LEAST, 2 * concurrentRequests)
}

/**
 * Returns the address of `meta.bindaddress`: an address or, as in Scrapy, a pair of address and port. The port is left to
 * the operating system.
 */
function bindAddressOf(request: Request): string | undefined {
  const given = request.hasMeta ? request.meta.bindaddress : undefined
  const address = Array.isArray(given) ? given[0] : given
  if (address === undefined || address === null) return undefined
  if (typeof address === 'string' && isIP(address) !== 0) return address
  throw new WebloomError(
    'WL_REQUEST_INVALID',
    `meta.bindaddress of ${request} is ${JSON.stringify(given)}; expected an IP address of this machine`,
  )
}
