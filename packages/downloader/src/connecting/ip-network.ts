import { isIP } from 'node:net'

/** The bytes of an IP address: 4 or 16. */
export type IpBytes = readonly number[]

/**
 * The bytes of an address as the operating system or the URL standard writes it; undefined for what is none. An IPv6
 * address that only wraps one of IPv4 is that one: mapped (`::ffff:127.0.0.1`), NAT64 (`64:ff9b::/96`) or 6to4 (`2002::/16`).
 */
export function ipBytes(text: string): IpBytes | undefined {
  const address = text.split('%', 1)[0]!
  const version = isIP(address)
  if (version === 0) return undefined
  return version === 4 ? address.split('.').map(Number) : unwrapped(ipv6Bytes(address))
}

const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
const NAT64 = [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0]
const SIX_TO_FOUR = [0x20, 0x02]

function unwrapped(bytes: IpBytes): IpBytes {
  if (startsWith(bytes, MAPPED) || startsWith(bytes, NAT64)) return bytes.slice(12)
  return startsWith(bytes, SIX_TO_FOUR) ? bytes.slice(2, 6) : bytes
}

/** The URL standard's form has hexadecimal groups only, also where an IPv4 address stood at the end. */
function ipv6Bytes(address: string): IpBytes {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [groupBytes(head), groupBytes(tail ?? '')]
  return [...before, ...new Array<number>(16 - before.length - after.length).fill(0), ...after]
}

function groupBytes(groups: string): number[] {
  if (groups === '') return []
  return groups.split(':').flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}

function startsWith(bytes: IpBytes, start: IpBytes): boolean {
  return start.every((byte, index) => bytes[index] === byte)
}

/** Addresses that begin with the same bits: `10.0.0.0/8`, or a single one. */
export class IpNetwork {
  readonly #bytes: IpBytes
  readonly #bits: number

  private constructor(bytes: IpBytes, bits: number) {
    this.#bytes = bytes
    this.#bits = bits
  }

  /** Undefined for a text that is neither `address` nor `address/bits`. */
  static parse(text: string): IpNetwork | undefined {
    const [address = '', bits, ...more] = text.split('/')
    // A network of addresses that wrap others is written with what they wrap.
    const bytes = ipBytes(address)
    if (!bytes || more.length > 0) return undefined
    const bitsMax = bytes.length * 8
    if (bits === undefined) return new IpNetwork(bytes, bitsMax)
    return /^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax ? new IpNetwork(bytes, Number(bits)) : undefined
  }

  get isSingleAddress(): boolean {
    return this.#bits === this.#bytes.length * 8
  }

  contains(address: IpBytes): boolean {
    if (address.length !== this.#bytes.length) return false
    const whole = this.#bits >> 3
    for (let index = 0; index < whole; index++) if (address[index] !== this.#bytes[index]) return false
    const rest = this.#bits & 7
    return rest === 0 || (address[whole]! ^ this.#bytes[whole]!) >> (8 - rest) === 0
  }
}
