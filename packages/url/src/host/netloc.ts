import { isAscii } from '../percent.ts'
import type { UrlRules } from '../url-rules.ts'
import { isIpv6 } from './ipv6.ts'

/** What stands between `//` and the path, taken apart as Python's `SplitResult` does. Absent parts are undefined. */
export interface Netloc {
  /** As written, percent-encoded. */
  readonly username: string | undefined
  /** As written, percent-encoded. */
  readonly password: string | undefined
  /** In lower case, but not the zone of an IPv6 address; without brackets. */
  readonly hostname: string | undefined
  /** As written; it may be no number. */
  readonly port: string | undefined
}

/** Takes a netloc apart, as the properties of Python's `SplitResult` do. */
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

/** Returns why Python's `urlsplit`, or that of w3lib 2.5, refuses this netloc; undefined when it does not. */
export function checkNetloc(netloc: string, rules: UrlRules): string | undefined {
  const opens = netloc.includes('[')
  if (opens !== netloc.includes(']')) return 'its host has only one of the brackets [ and ]'
  const problem = opens ? checkBracketed(netloc.slice(netloc.lastIndexOf('@') + 1)) : undefined
  return problem ?? checkNfkc(netloc, DELIMITERS[rules])
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
  return valid ? undefined : `${JSON.stringify(host)} in brackets is not an IPv6 address`
}

// A name has 253 octets at the most. Normalising takes time quadratic in the length of a run of combining marks: one of
// 100 000, as a hostile page may hold, would take ten seconds.
const UNICODE_NETLOC_MAX = 1024

const DELIMITERS: Readonly<Record<UrlRules, RegExp>> = { 'w3lib-2.4': /[/?#@:]/, 'w3lib-2.5': /[/?#@:\\]/ }

/**
 * IDNA normalises by NFKC, and some characters (℀, ／, ：) then become delimiters: the host that is looked up would
 * not be the host that was checked. Python bug 36216.
 */
function checkNfkc(netloc: string, delimiters: RegExp): string | undefined {
  if (isAscii(netloc)) return undefined
  if (netloc.length > UNICODE_NETLOC_MAX) return `its host of ${netloc.length} characters is longer than any`
  const plain = netloc.replace(/[@:#?]/g, '')
  const normal = plain.normalize('NFKC')
  if (normal === plain || !delimiters.test(normal)) return undefined
  return `its host ${JSON.stringify(netloc)} holds a character that NFKC turns into a delimiter such as / or @`
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
