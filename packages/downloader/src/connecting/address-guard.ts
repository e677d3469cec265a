/**
 * Keeps the crawl out of private networks: a page from outside cannot send it to the machine that it runs on, to that
 * machine's neighbours, or to its cloud's metadata.
 *
 *     address of the public internet    connected to
 *     inside (`address-range.ts`)       refused, unless
 *       PRIVATE_ADDRESSES_ALLOWED         names it, or
 *       the host and port are             those of one of the crawl's own start requests. Never a metadata address, nor
 *                                         a host that had a public address before, for any worker of the crawl: such
 *                                         a host rebinds its name
 *
 * The guard is asked at each connection, with the addresses that would be connected to. So notation, redirects and DNS
 * answers that change make no difference. Of a host with addresses of both kinds only the public ones are used. A proxy
 * looks names up itself: through it the guard can judge only addresses in URLs and a few names.
 */

import { isIP } from 'node:net'
import {
  ENTRY_BYTES,
  hostAndPort,
  IgnoreRequest,
  type Logger,
  protectionStat,
  RecentBytes,
  type StartHosts,
  type StatsCollector,
} from '@webloom/core'
import { type AddressRange, addressRange } from './address-range.ts'
import type { AllowedAddresses } from './allowed-addresses.ts'
import { ipAddress } from './ip-network.ts'

export interface AddressGuardOptions {
  readonly allowed: AllowedAddresses
  /** The hosts of the crawl's start requests. Absent: no host is let in for being one. */
  readonly startHosts?: StartHosts
  readonly stats: StatsCollector
  readonly logger: Logger
}

// Some 26 000 hosts; one that was forgotten is noted once more. And 1600 that a WARNING has told of.
const PUBLIC_HOSTS_BYTES_MAX = 4_194_304
const HOSTS_WARNED_OF_BYTES_MAX = 262_144

export class AddressGuard {
  readonly #options: AddressGuardOptions
  readonly #publicHosts = new RecentBytes<string, true>(PUBLIC_HOSTS_BYTES_MAX)
  readonly #warnedOf = new RecentBytes<string, true>(HOSTS_WARNED_OF_BYTES_MAX)
  #hasToldOfProxies = false

  constructor(options: AddressGuardOptions) {
    this.#options = options
  }

  /**
   * Resolves to those of the host's addresses that may be connected to, in their order. Rejects with an `IgnoreRequest` of
   * the code WL_ADDRESS_REFUSED when there is none.
   *
   * @param hostAndPort as core's `hostAndPort` writes it
   */
  async permitted(hostAndPort: string, addresses: readonly string[]): Promise<readonly string[]> {
    const ranges = addresses.map(rangeOf)
    const outside = addresses.filter((_, index) => ranges[index] === undefined)
    if (outside.length > 0) {
      await this.#notePublic(hostAndPort)
      return outside
    }
    const inside = addresses.filter((address, index) => this.#allows(address, hostAndPort, ranges[index]!))
    if (inside.length > 0) return inside
    const unforbidden = addresses.filter((_, index) => ranges[index] !== 'metadata')
    if (unforbidden.length > 0 && (await this.#isStartHost(hostAndPort))) return unforbidden
    throw this.#refusal(hostAndPort, addresses[0]!, ranges[0]!)
  }

  /**
   * Checks a host whose name a proxy will look up, as far as its name or address tells. Other names are let through: only
   * the proxy knows their addresses, and it may be the only one that can look them up. Rejects as `permitted` does.
   */
  async permittedByProxy(origin: string): Promise<void> {
    const place = hostAndPort(origin)
    if (place === undefined) return
    const host = place.slice(0, place.lastIndexOf(':')).replace(/^\[|\]$/g, '')
    const address = isIP(host) === 0 ? addressOfName(host) : host
    if (address !== undefined) await this.permitted(place, [address])
    else this.#tellOfProxies()
  }

  #tellOfProxies(): void {
    if (this.#hasToldOfProxies) return
    this.#hasToldOfProxies = true
    this.#options.logger.info(
      'some requests go through a proxy: the proxy looks up the names of hosts, so it is the proxy that must refuse private addresses',
    )
  }

  #allows(address: string, hostAndPort: string, range: AddressRange): boolean {
    const known = ipAddress(address)
    return known !== undefined && this.#options.allowed.allows(known, hostAndPort, range === 'metadata')
  }

  /**
   * Notes for all workers, before the connection is made, that the host has a public address: its answer may change the
   * name's address.
   */
  async #notePublic(hostAndPort: string): Promise<void> {
    if (this.#publicHosts.get(hostAndPort)) return
    await this.#options.startHosts?.notePublic(hostAndPort)
    this.#publicHosts.set(hostAndPort, true, ENTRY_BYTES + hostAndPort.length)
  }

  async #isStartHost(hostAndPort: string): Promise<boolean> {
    if (this.#publicHosts.get(hostAndPort)) return false
    return (await this.#options.startHosts?.has(hostAndPort)) ?? false
  }

  #refusal(hostAndPort: string, address: string, range: AddressRange): IgnoreRequest {
    const { stats, logger } = this.#options
    stats.inc(protectionStat(`${range}_address`))
    const setting =
      range === 'metadata'
        ? `PRIVATE_ADDRESSES_ALLOWED=${address}`
        : `PRIVATE_ADDRESSES_ALLOWED=${hostAndPort}`
    const line = { host: hostAndPort, address, range, allowedBy: setting }
    if (this.#warnedOf.get(hostAndPort))
      logger.debug(line, 'a request leads to a private address; nothing is sent')
    else
      logger.warn(
        line,
        'a request leads to a private address; nothing is sent. Further ones to this host are only counted',
      )
    this.#warnedOf.set(hostAndPort, true, ENTRY_BYTES + hostAndPort.length)
    return new IgnoreRequest(
      `${hostAndPort} is at ${address}, which is ${range} and no start host of this crawl; ${setting} lets it in`,
      'WL_ADDRESS_REFUSED',
    )
  }
}

function rangeOf(address: string): AddressRange | undefined {
  const known = ipAddress(address)
  // A text that is not an address cannot be connected to, and nothing about it speaks for letting it in.
  return known ? addressRange(known) : 'reserved'
}

// Names that mean the same everywhere, and for which a proxy must not be asked.
const NAMES_INSIDE: ReadonlyMap<string, string> = new Map([
  ['localhost', '127.0.0.1'],
  ['metadata.google.internal', '169.254.169.254'],
  ['metadata', '169.254.169.254'],
  ['instance-data', '169.254.169.254'],
  ['metadata.tencentyun.com', '169.254.0.23'],
])

function addressOfName(host: string): string | undefined {
  return NAMES_INSIDE.get(host.endsWith('.localhost') ? 'localhost' : host)
}
