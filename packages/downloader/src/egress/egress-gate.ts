/**
 * Opens ways out for clients that make their own connections (`Egress` of core): a proxy for each, which asks the crawl's address
 * guard.
 *
 * A port of its own tells whose traffic it is: a user and password in one common port would do so, too, but browsers then send
 * each first request twice, and some kinds of request never with a password. The port is on loopback and open while its page is.
 */

import { type Crawler, type Egress, type EgressOptions, type Request, SettingsError } from '@webloom/core'
import { AddressGuard } from '../connecting/address-guard.ts'
import { AllowedAddresses } from '../connecting/allowed-addresses.ts'
import { HostAddresses } from '../connecting/host-addresses.ts'
import { type TlsOptions, tlsFromSettings } from '../connecting/tls-settings.ts'
import { proxyOf } from '../proxies/proxy-address.ts'
import { EgressDial } from './egress-dial.ts'

export interface EgressGateOptions {
  readonly addresses: Pick<HostAddresses, 'of'>
  /** Absent: every address may be connected to. */
  readonly guard?: AddressGuard
  /** Of connections to proxies; the client's own go through as they are. */
  readonly tls?: TlsOptions
  readonly connectTimeoutMs?: number
  /** DOWNLOAD_BIND_ADDRESS. */
  readonly localAddress?: string
}

// The operating system tries four times in 15 s to reach a host.
const CONNECT_TIMEOUT_MS = 30_000

export class EgressGate {
  readonly #options: EgressGateOptions

  constructor(options: EgressGateOptions) {
    this.#options = options
  }

  static fromCrawler(crawler: Crawler): EgressGate {
    const { settings, stats, logger, startHosts, addresses = HostAddresses.fromCrawler(crawler) } = crawler
    const allowed = new AllowedAddresses(settings.getList('PRIVATE_ADDRESSES_ALLOWED').map(String))
    const localAddress = settings.get('DOWNLOAD_BIND_ADDRESS')
    return new this({
      addresses,
      guard: new AddressGuard({ allowed, stats, logger, ...(startHosts && { startHosts }) }),
      tls: tlsFromSettings(settings),
      connectTimeoutMs: settings.getMs('DOWNLOAD_TIMEOUT'),
      ...(localAddress !== null && { localAddress }),
    })
  }

  /** Throws `SettingsError` where the address to listen at is none of this machine. */
  async open(request: Request, options: EgressOptions): Promise<Egress> {
    const { connectTimeoutMs = CONNECT_TIMEOUT_MS, ...dialing } = this.#options
    const proxy = proxyOf(request)
    const dial = new EgressDial({
      ...dialing,
      timeoutMs: Math.min(connectTimeoutMs, CONNECT_TIMEOUT_MS),
      ...(proxy && { proxy }),
    })
    // Imported here: with node:http Node loads its own fetch, which costs each start of a command 25 ms.
    const { EgressProxy } = await import('./egress-proxy.ts')
    const egress = new EgressProxy(dial, options)
    try {
      await egress.listen()
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code !== 'EADDRNOTAVAIL' && code !== 'ENOTFOUND') throw cause
      throw new SettingsError([
        `BROWSER_EGRESS_HOST is ${JSON.stringify(options.listenAt)}; expected an address of this machine`,
      ])
    }
    return egress
  }
}
