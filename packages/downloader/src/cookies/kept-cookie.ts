/**
 * Which cookies are kept, and which of them go along with a request, by RFC 6265bis §5.7 and §5.8.
 *
 * tough-cookie parses Set-Cookie and knows the public suffixes. Its jar is not used: it has no bounds, and it hides
 * its cookies from whoever wants to share them between workers.
 */

import { isIP } from 'node:net'
import type { Request } from '@webloom/core'
import {
  Cookie,
  canonicalDomain,
  defaultPath,
  domainMatch,
  getPublicSuffix,
  parse,
  pathMatch,
} from 'tough-cookie'
import { asWritten } from '../http/wire-text.ts'

/** A cookie as a jar keeps it. Survives JSON. */
export interface KeptCookie {
  readonly name: string
  readonly value: string
  readonly domain: string
  /** True: it goes to `domain` itself and not to its subdomains. */
  readonly hostOnly: boolean
  readonly path: string
  readonly secure: boolean
  /** When it ends, in milliseconds since 1970; null: with the crawl. */
  readonly expiresAtMs: number | null
}

/** Where a cookie comes from or may go to. */
export interface CookiePlace {
  readonly host: string
  readonly path: string
  readonly isHttps: boolean
}

/** Absent when the URL has no host that could have cookies. */
export function cookiePlace(url: string): CookiePlace | undefined {
  const parsed = URL.parse(url)
  if (!parsed || parsed.hostname === '') return undefined
  return { host: parsed.hostname, path: parsed.pathname, isHttps: parsed.protocol === 'https:' }
}

/** The cookie of one Set-Cookie header; null when that server may not set it. */
export function cookieFromServer(setCookie: string, place: CookiePlace): KeptCookie | null {
  const cookie = parse(asWritten(setCookie), { loose: true })
  if (!cookie || (cookie.secure && !place.isHttps) || !prefixHolds(cookie)) return null
  return keptCookie(cookie, place)
}

/** The cookies that a request names. Null stands for one that is not kept: its host could not set that domain. */
export function cookieOfRequest(
  { name, value, domain, path, secure }: NamedCookie,
  place: CookiePlace,
): KeptCookie | null {
  const cookie = new Cookie({
    key: name,
    value: String(value),
    domain: domain ?? null,
    path: path ?? null,
    // As Scrapy: what was given for an https page does not leak to a plain one.
    secure: secure ?? place.isHttps,
  })
  return keptCookie(cookie, place)
}

// RFC 6265bis §5.6 refuses them in Set-Cookie. A line break would end the header, and no header with another can be sent.
const CONTROL_CHARACTER = /[\x00-\x1f\x7f]/

/** Whether a Cookie header that holds it can be sent. One that cannot would keep every request from its host. */
export function isSendable({ name, value }: Pick<KeptCookie, 'name' | 'value'>): boolean {
  return isSendableText(name) && isSendableText(value)
}

export function isSendableText(text: string): boolean {
  return !CONTROL_CHARACTER.test(text)
}

/** A cookie as a request names it. */
export interface NamedCookie {
  readonly name: string
  readonly value: unknown
  readonly domain?: string
  readonly path?: string
  readonly secure?: boolean
}

export function namedCookies({ cookies }: Request): readonly NamedCookie[] {
  if (cookies === null) return []
  if (Array.isArray(cookies)) return cookies
  return Object.entries(cookies).map(([name, value]) => ({ name, value }))
}

function keptCookie(cookie: Cookie, place: CookiePlace): KeptCookie | null {
  if (!isSendable({ name: cookie.key, value: cookie.value })) return null
  const asked = cookie.domain ? domainName(cookie.domain) : null
  if (asked === undefined) return null
  const hostOnly = isHostOnly(asked, place.host)
  if (hostOnly === null) return null
  return {
    name: cookie.key,
    value: cookie.value,
    domain: hostOnly ? place.host : asked!,
    hostOnly,
    path: isPath(cookie.path) ? cookie.path : defaultPath(place.path),
    secure: cookie.secure,
    expiresAtMs: expiry(cookie),
  }
}

/** Undefined for what is no domain: tough-cookie throws for some, and the page came whatever its cookies say. */
function domainName(written: string): string | undefined {
  try {
    return canonicalDomain(written)
  } catch {
    return undefined
  }
}

function isPath(path: string | null): path is string {
  return path?.startsWith('/') === true && !CONTROL_CHARACTER.test(path)
}

/** Null when a cookie of that Domain is refused: of another site, or of a suffix such as co.uk that sites share. */
function isHostOnly(domain: string | null, host: string): boolean | null {
  if (domain === null) return true
  // A Domain that is the host itself is harmless even where it is an address or a public suffix.
  if (domain === host) return isIP(host) !== 0 || isPublicSuffix(host)
  return isPublicSuffix(domain) || !domainMatch(host, domain) ? null : false
}

function isPublicSuffix(domain: string): boolean {
  return !getPublicSuffix(domain, { allowSpecialUseDomain: true, ignoreError: true })
}

/** RFC 6265bis §4.1.3: a name with such a prefix promises what its attributes must hold. */
function prefixHolds(cookie: Cookie): boolean {
  const name = cookie.key.toLowerCase()
  if (name.startsWith('__secure-')) return cookie.secure
  if (name.startsWith('__host-')) return cookie.secure && !cookie.domain && cookie.path === '/'
  return true
}

// Max-Age may be any number of digits; a Date ends here.
const LATEST_MS = 8.64e15

function expiry(cookie: Cookie): number | null {
  if (typeof cookie.maxAge === 'number') return Math.min(Date.now() + cookie.maxAge * 1000, LATEST_MS)
  if (cookie.maxAge === '-Infinity') return 0
  return cookie.expires instanceof Date ? cookie.expires.getTime() : null
}

// Asked for each request, and the list of public suffixes is not quick: 8 µs a host.
const domainsKnown = new Map<string, readonly string[]>()
const DOMAINS_KNOWN_MAX = 1000

/** The host and each domain above it whose cookies could go there, public suffixes left out. */
export function cookieDomains({ host }: CookiePlace): readonly string[] {
  const known = domainsKnown.get(host)
  if (known) return known
  if (domainsKnown.size >= DOMAINS_KNOWN_MAX) domainsKnown.clear()
  const domains = domainsOf(host)
  domainsKnown.set(host, domains)
  return domains
}

function domainsOf(host: string): readonly string[] {
  if (isIP(host) !== 0 || host.startsWith('[')) return [host]
  const domains = [host]
  for (let dot = host.indexOf('.'); dot > 0; dot = host.indexOf('.', dot + 1)) {
    const parent = host.slice(dot + 1)
    if (isPublicSuffix(parent)) break
    domains.push(parent)
  }
  return domains
}

/** The value of the Cookie header: longer paths first, else in the order they were set. Empty when none goes there. */
export function cookieHeader(cookies: Iterable<KeptCookie>, place: CookiePlace): string {
  const now = Date.now()
  return (
    [...cookies]
      // An older release kept such as cannot be sent, and shared jars hold them for a week.
      .filter((cookie) => goesTo(cookie, place) && !hasExpired(cookie, now) && isSendable(cookie))
      .sort((a, b) => b.path.length - a.path.length)
      .map(({ name, value }) => (name === '' ? value : `${name}=${value}`))
      .join('; ')
  )
}

function goesTo({ domain, hostOnly, path, secure }: KeptCookie, place: CookiePlace): boolean {
  if (secure && !place.isHttps) return false
  if (hostOnly ? domain !== place.host : !domainMatch(place.host, domain)) return false
  return pathMatch(place.path, path)
}

export function hasExpired({ expiresAtMs }: KeptCookie, now: number): boolean {
  return expiresAtMs !== null && expiresAtMs <= now
}

/** Cookies with the same identity replace each other (RFC 6265bis §5.7, step 23). */
export function cookieIdentity({ domain, path, name }: KeptCookie): string {
  return `${domain}\n${path}\n${name}`
}
