import { isIP, type LookupFunction } from 'node:net'
import { DownloadError, type HostLookup, hostAndPort, InvalidUrl } from '@webloom/core'
import type { AddressGuard } from './address-guard.ts'
import { isAddress } from './ip-network.ts'
import type { TlsOptions } from './tls-settings.ts'
import { buildConnector, type Connector } from './undici-parts.ts'

/** How connections are made. */
export interface ConnectingOptions {
  readonly addresses: HostLookup
  /** Absent: every address will do. */
  readonly guard?: AddressGuard
  readonly tls: TlsOptions
  readonly http2: boolean
  /** For connection and TLS together, milliseconds. */
  readonly timeoutMs: number
}

/**
 * Returns a function that connects to one site. It looks the name up for each connection and connects to what the guard let
 * through: there is no second look-up that could give another answer. TLS is told the name, not the address.
 *
 * Throws `InvalidUrl` for an origin that is not a URL by the standard, such as `http://1.2.3.400`.
 *
 * @param origin `https://example.com`
 * @param localAddress the address that connections come from; only addresses of its kind are connected to
 */
export function siteConnector(
  origin: string,
  localAddress: string | undefined,
  options: ConnectingOptions,
): Connector {
  const { addresses, guard } = options
  const place = hostAndPort(origin)
  if (place === undefined) throw new InvalidUrl(origin, 'it names no host that could be asked')
  const permitted = async (hostname: string) => {
    const found = ofOneKind(await addresses.of(hostname), hostname, localAddress)
    return guard ? guard.permitted(place, found) : found
  }
  const connect = buildConnector({
    ...options.tls,
    allowH2: options.http2,
    timeout: options.timeoutMs,
    lookup: lookupBy(permitted),
  })
  const isTls = origin.startsWith('https:')
  return (given, answer) => {
    const callback: Parameters<Connector>[1] = (...[error, socket]) =>
      error === null ? answer(null, socket) : answer(isTls ? toldOfTls(error) : error, null)
    // Node calls `lookup` for names only, so an address is put before the guard here.
    if (!isAddress(given.hostname)) connect(given, callback)
    else
      permitted(given.hostname).then(
        () => connect(given, callback),
        (error: Error) => callback(error, null),
      )
  }
}

/** The error code of a connection that was closed before TLS was set up. */
export const TLS_CLOSED = 'TLS_CLOSED'

/** Marks the error here: later it looks like that of a connection which closed while an answer was awaited. */
function toldOfTls(error: Error & { code?: string }): Error {
  if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') return error
  const told = new Error('the server closed the connection in the TLS handshake', { cause: error })
  return Object.assign(told, { code: TLS_CLOSED })
}

/**
 * Returns a `lookup` for `net.connect`, which tries several addresses alternately by kind, the next one after 250 ms; with a `localAddress` only the
 * first.
 */
export function lookupBy(addressesOf: (hostname: string) => Promise<readonly string[]>): LookupFunction {
  return (hostname, { all }, callback) => {
    addressesOf(hostname).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }))
        if (all) callback(null, found)
        else callback(null, found[0]!.address, found[0]!.family)
      },
      (error: Error) => callback(error, ''),
    )
  }
}

/**
 * Returns the addresses that can be reached from `localAddress`: from an IPv4 address no IPv6 address can be, nor the other
 * way round.
 */
function ofOneKind(
  addresses: readonly string[],
  hostname: string,
  localAddress: string | undefined,
): readonly string[] {
  if (localAddress === undefined) return addresses
  const found = addresses.filter((address) => isIP(address) === isIP(localAddress))
  if (found.length > 0) return found
  throw new DownloadError(
    'CannotResolveHostError',
    `${hostname} has no IPv${isIP(localAddress)} address, as connections from ${localAddress} need (bindaddress)`,
  )
}
