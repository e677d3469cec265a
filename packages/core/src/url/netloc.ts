import { isAscii } from './percent.ts'

/** What stands between `//` and the path, taken apart as Python's `SplitResult` does. Absent parts are undefined. */
export interface Netloc {
  readonly username: string | undefined
  readonly password: string | undefined
  /** In lower case, but not the zone of an IPv6 address; without brackets. */
  readonly hostname: string | undefined
  /** As written; it may be no number. */
  readonly port: string | undefined
}

export function splitNetloc(netloc: string): Netloc {
  const at = netloc.lastIndexOf('@')
  const [host, port] = hostAndPort(netloc.slice(at + 1))
  const userinfo = at < 0 ? undefined : netloc.slice(0, at)
  const colon = userinfo?.indexOf(':') ?? -1
  return {
    username: colon < 0 ? userinfo : userinfo?.slice(0, colon),
    password: colon < 0 ? undefined : userinfo?.slice(colon + 1),
    hostname: host ? lowerHost(host) : undefined,
    port: port || undefined,
  }
}

/** Why Python's `urlsplit` refuses this netloc, or undefined when it does not. */
export function checkNetloc(netloc: string): string | undefined {
  const opens = netloc.includes('[')
  if (opens !== netloc.includes(']')) return 'its host has only one of the brackets [ and ]'
  const problem = opens ? checkBracketed(netloc.slice(netloc.lastIndexOf('@') + 1)) : undefined
  return problem ?? checkNfkc(netloc)
}

function checkBracketed(hostPort: string): string | undefined {
  const open = hostPort.indexOf('[')
  if (open > 0) return 'there is text before the bracket [ of its IPv6 address'
  if (open === 0) {
    const end = hostPort.indexOf(']')
    const after = end < 0 ? '' : hostPort.slice(end + 1)
    if (after && !after.startsWith(':')) return 'only a :port may follow the bracket ] of its IPv6 address'
  }
  const [host] = hostAndPort(hostPort)
  const valid = host.startsWith('v') ? /^v[a-fA-F0-9]+\..+$/s.test(host) : isIpv6(host)
  return valid ? undefined : `${JSON.stringify(host)} in brackets is no IPv6 address`
}

// A name has 253 octets at the most. Normalising takes time quadratic in the length of a run of combining marks: one of
// 100 000, as a hostile page may hold, would take ten seconds.
const UNICODE_NETLOC_MAX = 1024

/**
 * IDNA normalises by NFKC, and some characters (℀, ／, ：) then become delimiters: the host that is looked up would
 * not be the host that was checked. Python bug 36216.
 */
function checkNfkc(netloc: string): string | undefined {
  if (isAscii(netloc)) return undefined
  if (netloc.length > UNICODE_NETLOC_MAX) return `its host of ${netloc.length} characters is longer than any`
  const plain = netloc.replace(/[@:#?]/g, '')
  const normal = plain.normalize('NFKC')
  if (normal === plain || !/[/?#@:]/.test(normal)) return undefined
  return `its host ${JSON.stringify(netloc)} holds a character that NFKC turns into one of / ? # @ :`
}

function hostAndPort(hostPort: string): [host: string, port: string] {
  const open = hostPort.indexOf('[')
  if (open < 0) return partition(hostPort, ':')
  const [host, after] = partition(hostPort.slice(open + 1), ']')
  return [host, partition(after, ':')[1]]
}

function lowerHost(host: string): string {
  const percent = host.indexOf('%')
  return percent < 0 ? host.toLowerCase() : host.slice(0, percent).toLowerCase() + host.slice(percent)
}

function partition(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

/** As Python's `ipaddress.IPv6Address` reads it: a zone after `%` is allowed, an IPv4 tail too. */
function isIpv6(text: string): boolean {
  const percent = text.indexOf('%')
  const zone = text.slice(percent + 1)
  if (percent >= 0 && (!zone || zone.includes('%') || text.includes('/'))) return false
  const address = percent < 0 ? text : text.slice(0, percent)
  const groups = address.split(':')
  if (groups.at(-1)!.includes('.')) {
    if (!isIpv4(groups.pop()!)) return false
    groups.push('0', '0')
  }
  const halves = address.split('::')
  if (halves.length > 2 || address.includes(':::')) return false
  if (!groups.every((group) => /^[0-9A-Fa-f]{0,4}$/.test(group))) return false
  const filled = groups.filter((group) => group !== '').length
  // "::" stands for at least one group; without it all eight must be there and none may be empty.
  return halves.length === 2
    ? filled <= 7 && !/^:(?!:)|(?<!:):$/.test(address)
    : filled === 8 && groups.length === 8
}

function isIpv4(text: string): boolean {
  return (
    /^(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}$/.test(text) &&
    text.split('.').every((octet) => Number(octet) <= 255)
  )
}
