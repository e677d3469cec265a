import { BlockList, isIP, SocketAddress } from 'node:net'

/**
 * Returns an address as the operating system or the URL standard writes it; undefined for a text that is none. An IPv6
 * address that only wraps an IPv4 address becomes that one: mapped (`::ffff:127.0.0.1`), NAT64 (`64:ff9b::/96`) or 6to4
 * (`2002::/16`).
 */
export function ipAddress(written: string): SocketAddress | undefined {
  const text = written.split('%', 1)[0]!
  const version = isIP(text)
  if (version === 0) return undefined
  const ipv4 = version === 4 ? text : wrappedIpv4(text)
  return new SocketAddress(
    ipv4 === undefined ? { address: text, family: 'ipv6' } : { address: ipv4, family: 'ipv4' },
  )
}

const [DIGIT_0, DIGIT_9] = [48, 57]

/** Returns whether this is an address, as `isIP` does, which tries two regular expressions on each name: that takes a microsecond and more. */
export function isAddress(host: string): boolean {
  const last = host.charCodeAt(host.length - 1)
  const mayBe = (last >= DIGIT_0 && last <= DIGIT_9) || host.includes(':')
  return mayBe && isIP(host) !== 0
}

const IPV4_AT_THE_END = new BlockList()
IPV4_AT_THE_END.addSubnet('::ffff:0:0', 96, 'ipv6')
IPV4_AT_THE_END.addSubnet('64:ff9b::', 96, 'ipv6')
const SIX_TO_FOUR = new BlockList()
SIX_TO_FOUR.addSubnet('2002::', 16, 'ipv6')

function wrappedIpv4(ipv6: string): string | undefined {
  if (IPV4_AT_THE_END.check(ipv6, 'ipv6')) return dotted(groupsOf(ipv6).slice(6))
  return SIX_TO_FOUR.check(ipv6, 'ipv6') ? dotted(groupsOf(ipv6).slice(1, 3)) : undefined
}

/**
 * Returns the eight groups. The URL standard writes all of them in hexadecimal, also where an IPv4 address stood at the
 * end.
 */
function groupsOf(ipv6: string): number[] {
  const [head = '', tail = ''] = new URL(`http://[${ipv6}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [head, tail].map((part) =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)),
  ) as [number[], number[]]
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after]
}

function dotted(groups: readonly number[]): string {
  return groups.flatMap((group) => [group >> 8, group & 0xff]).join('.')
}

/** Addresses that begin with the same bits: a network such as `10.0.0.0/8`, or a single address. */
export class IpNetwork {
  readonly isSingleAddress: boolean
  readonly #family: SocketAddress['family']
  readonly #list = new BlockList()

  private constructor(address: SocketAddress, bits: number) {
    this.isSingleAddress = bits === BITS[address.family]
    this.#family = address.family
    this.#list.addSubnet(address, bits)
  }

  /**
   * Undefined for a text that is neither `address` nor `address/bits`. IPv6 networks of addresses that wrap others, such as
   * 2002::/16, are none: an address never is in them, as it is compared by what it wraps.
   */
  static parse(text: string): IpNetwork | undefined {
    const [written = '', bits, ...more] = text.split('/')
    const address = ipAddress(written)
    if (!address || more.length > 0) return undefined
    const bitsMax = BITS[address.family]
    if (bits === undefined) return new IpNetwork(address, bitsMax)
    if (address.family === 'ipv4' && isIP(written) !== 4) return undefined
    return /^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax
      ? new IpNetwork(address, Number(bits))
      : undefined
  }

  contains(address: SocketAddress): boolean {
    return address.family === this.#family && this.#list.check(address)
  }
}

const BITS = { ipv4: 32, ipv6: 128 } as const
