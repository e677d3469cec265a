/**
 * Which cookies are kept, and which of them go along with a request, by RFC 6265bis §5.7 and §5.8.
 *
 * tough-cookie parses Set-Cookie and knows the public suffixes. Its jar is not used: it has no bounds, and its cookies
 * cannot be shared between workers one by one.
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

/** A cookie as a jar keeps it. It survives JSON. */
export interface KeptCookie {
  readonly name: string
  readonly value: string
  readonly domain: string
  /** True: the cookie goes to `domain` itself and not to its subdomains. */
  readonly hostOnly: boolean
  readonly path: string
  readonly secure: boolean
  /** When the cookie expires, in milliseconds since 1970. Null: with the crawl. */
  readonly expiresAtMs: number | null
}

/** The place that a cookie comes from, or may go to. */
export interface CookiePlace {
  readonly host: string
  readonly path: string
  readonly isHttps: boolean
}

/** Returns the place of a URL; undefined when the URL has no host that could have cookies. */
export function cookiePlace(url: string): CookiePlace | undefined {
  const parsed = URL.parse(url)
  if (!parsed || parsed.hostname === '') return undefined
  return { host: parsed.hostname, path: parsed.pathname, isHttps: parsed.protocol === 'https:' }
}

/** Returns the cookie of one Set-Cookie header; null when that server may not set it. */
export function cookieFromServer(setCookie: string, place: CookiePlace): KeptCookie | null {
  const cookie = parse(asWritten(setCookie), { loose: true })
  if (!cookie || (cookie.secure && !place.isHttps) || !prefixHolds(cookie)) return null
  return keptCookie(cookie, place)
}

/** Returns the cookies that a request names. Null stands for a cookie that is not kept, as its host may not set that domain. */
export function cookieOfRequest(
  { name, value, domain, path, secure }: NamedCookie,
  place: CookiePlace,
): KeptCookie | null {
  const cookie = new Cookie({
    key: name,
    value: String(value),
    domain: domain ?? null,
    path: path ?? null,
    // As in Scrapy: a cookie that was given for an https page does not leak to an http one.
    secure: secure ?? place.isHttps,
  })
  return keptCookie(cookie, place)
}

// RFC 6265bis §5.6 refuses these characters in Set-Cookie. A line break would end the header; with another one the header
// cannot be sent.
const CONTROL_CHARACTER = /[\x00-\x1f\x7f]/

/** Returns whether a Cookie header with this cookie can be sent. A cookie that cannot would fail every request to its host. */
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

/**
 * Returns undefined for a text that is not a domain. tough-cookie throws for some texts, and bad cookies must not cost the
 * page.
 */
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

/**
 * Returns whether the cookie is for its host alone; null when its Domain is refused: another site's, or a public suffix
 * such as co.uk.
 */
function isHostOnly(domain: string | null, host: string): boolean | null {
  if (domain === null) return true
  // A Domain that is the host itself is harmless, even where the host is an address or a public suffix.
  if (domain === host) return isIP(host) !== 0 || isPublicSuffix(host)
  return isPublicSuffix(domain) || !domainMatch(host, domain) ? null : false
}

function isPublicSuffix(domain: string): boolean {
  return !getPublicSuffix(domain, { allowSpecialUseDomain: true, ignoreError: true })
}

/** Returns whether the attributes keep what the name's prefix promises (RFC 6265bis §4.1.3). */
function prefixHolds(cookie: Cookie): boolean {
  const name = cookie.key.toLowerCase()
  if (name.startsWith('__secure-')) return cookie.secure
  if (name.startsWith('__host-')) return cookie.secure && !cookie.domain && cookie.path === '/'
  return true
}

// Max-Age may have any number of digits; this is the last moment that a Date can express.
const LATEST_MS = 8.64e15

function expiry(cookie: Cookie): number | null {
  if (typeof cookie.maxAge === 'number') return Math.min(Date.now() + cookie.maxAge * 1000, LATEST_MS)
  if (cookie.maxAge === '-Infinity') return 0
  return cookie.expires instanceof Date ? cookie.expires.getTime() : null
}

// Asked for each request, and the list of public suffixes is slow: 8 µs a host.
const domainsKnown = new Map<string, readonly string[]>()
const DOMAINS_KNOWN_MAX = 1000

/** Returns the host and each domain above it whose cookies could go there, without public suffixes. */
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

/**
 * Returns the value of the Cookie header: longer paths first, else in the order the cookies were set. Empty when none goes
 * there.
 */
export function cookieHeader(cookies: Iterable<KeptCookie>, place: CookiePlace): string {
  const now = Date.now()
  return (
    [...cookies]
      // An older release kept cookies that cannot be sent, and shared jars hold them for a week.
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
