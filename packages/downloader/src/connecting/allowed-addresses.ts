import type { SocketAddress } from 'node:net'
import { SettingsError } from '@webloom/core'
import { IpNetwork, ipAddress } from './ip-network.ts'

/** One entry of PRIVATE_ADDRESSES_ALLOWED. */
interface Allowed {
  /** Absent: the entry is for addresses of any host. */
  readonly host?: string
  /** Absent: the entry is for every address of the host. */
  readonly network?: IpNetwork
  /** Absent: the entry is for any port. */
  readonly port?: string
}

/**
 * PRIVATE_ADDRESSES_ALLOWED: addresses that may be connected to although they are inside. An entry is an address, a network
 * (`10.0.0.0/8`) or a host name; an address and a host name may have a port. `*` allows everything but metadata.
 *
 * An address of a cloud's metadata is let through only by an entry that is this very address.
 */
export class AllowedAddresses {
  readonly #entries: readonly Allowed[]

  /** Throws `SettingsError` that names every entry which is none of these. */
  constructor(entries: readonly string[]) {
    const parsed = entries.map(allowed)
    const problems = entries.flatMap((text, index) =>
      parsed[index]
        ? []
        : [
            `PRIVATE_ADDRESSES_ALLOWED[${index}] is ${JSON.stringify(text)}; expected an address, a network as 10.0.0.0/8, a host, host:port, or *${hintFor(text)}`,
          ],
    )
    if (problems.length > 0) throw new SettingsError(problems)
    this.#entries = parsed as Allowed[]
  }

  /** @param hostAndPort as core's `hostAndPort` writes it */
  allows(address: SocketAddress, hostAndPort: string, isMetadata: boolean): boolean {
    const colon = hostAndPort.lastIndexOf(':')
    const [host, port] = [hostAndPort.slice(0, colon), hostAndPort.slice(colon + 1)]
    return this.#entries.some(
      (entry) =>
        (entry.port === undefined || entry.port === port) &&
        (isMetadata
          ? entry.network?.isSingleAddress === true && entry.network.contains(address)
          : (entry.host === undefined || entry.host === host) &&
            (entry.network === undefined || entry.network.contains(address))),
    )
  }
}

function hintFor(text: string): string {
  const isWrapped = ipAddress(text.trim().split('/', 1)[0]!)?.family === 'ipv4' && text.includes(':')
  return isWrapped ? '. Of IPv6 addresses that wrap IPv4 addresses name the network of the latter' : ''
}

function allowed(text: string): Allowed | undefined {
  const entry = text.trim()
  if (entry === '*') return {}
  const network = IpNetwork.parse(entry)
  if (network) return { network }
  const [, host, port] = /^([^:/\s]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(entry) ?? []
  if (host === undefined) return undefined
  const written = URL.parse(`http://${host}`)?.hostname.replace(/\.$/, '')
  if (!written) return undefined
  const single = IpNetwork.parse(written.replace(/^\[|\]$/g, ''))
  return { ...(single ? { network: single } : { host: written }), ...(port !== undefined && { port }) }
}
