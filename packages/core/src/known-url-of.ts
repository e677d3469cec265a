/** What is known of URLs in this process, apart for each set of rules: what a request's URL is made of. */

import { InvalidUrl, WebloomError } from './errors.ts'
import { KnownLinks } from './known-links.ts'
import { KnownUrl, KnownUrls } from './known-urls.ts'
import { ownCopy } from './own-copy.ts'
import { encoderFor } from './url/charset-encode.ts'
import { plainRoot } from './url/join.ts'
import { safeUrlString } from './url/safe-url.ts'
import { NEWEST_URL_RULES, type UrlRules } from './url/url-rules.ts'

interface Known {
  readonly urls: KnownUrls
  readonly links: KnownLinks
  readonly make: (url: string) => string
}

const KNOWN: Readonly<Record<UrlRules, Known>> = {
  'w3lib-2.4': knownBy('w3lib-2.4'),
  'w3lib-2.5': knownBy('w3lib-2.5'),
}

function knownBy(rules: UrlRules): Known {
  const urls = new KnownUrls(rules)
  const make = (url: string) => safeForm(url, safeUrlString(url, { rules }))
  return { urls, make, links: new KnownLinks((url) => urls.of(url, make)) }
}

/** What a URL is by these rules as it is written in a page of that encoding. Throws `InvalidUrl`. */
export function knownUrl(written: string, encoding: string, rules: UrlRules): KnownUrl {
  const { urls, make } = KNOWN[rules]
  if (encoding === 'utf-8') return urls.of(written, make)
  const safe = safeForm(written, safeUrlString(written, { rules, encoding }))
  return new KnownUrl(safe, rules, ownCopy(written))
}

/**
 * One that was made safe by these rules before it was queued: it stays as it is. Some are not what these rules would make of
 * them once more, as a host that is upper case only in its other form (`℡.com`).
 */
export function storedUrl(url: string, encoding: string, rules: UrlRules): KnownUrl {
  if (encoding !== 'utf-8' || safeUrlOrNone(url, rules) !== url) return new KnownUrl(url, rules)
  return KNOWN[rules].urls.of(url, (safe) => ownCopy(safe))
}

function safeUrlOrNone(url: string, rules: UrlRules): string | undefined {
  try {
    return safeUrlString(url, { rules })
  } catch (error) {
    if (error instanceof InvalidUrl) return undefined
    throw error
  }
}

/**
 * For the links of one page, whose base is given: what `new Request` is best made with, or undefined for a link that has
 * to be joined first. Undefined itself when that goes for all of its links.
 */
export function linksFrom(
  base: string,
  rules: UrlRules = NEWEST_URL_RULES,
): ((link: string) => KnownUrl | undefined) | undefined {
  const root = plainRoot(base)
  return root === undefined ? undefined : KNOWN[rules].links.from(root)
}

export function urlText(url: string | URL): string {
  if (typeof url === 'string') return url
  if (url instanceof URL) return url.href
  throw new InvalidUrl(String(url), `expected a string or a URL, got ${url === null ? 'null' : typeof url}`)
}

/** `safe` in memory of its own. Throws `InvalidUrl` when it has no scheme, or one of addresses that hold no page. */
export function safeForm(written: string, safe: string): string {
  if (!safe.includes('://') && !safe.startsWith('about:') && !safe.startsWith('data:'))
    throw new InvalidUrl(written, notRequestable(written))
  return ownCopy(safe)
}

// `localhost:8000/x` is a host and its port, and no address of a scheme `localhost`; a telephone number has no port.
const SCHEME_ALONE = /^\s*(?!(?!tel:|sms:)[^:]*:\d{1,5}(?:[/?#]|\s*$))([a-z][a-z0-9+-]*):/i

function notRequestable(url: string): string {
  const scheme = SCHEME_ALONE.exec(url)?.[1]?.toLowerCase()
  if (scheme === undefined)
    return 'it has no scheme; write https://… or resolve it first with response.urljoin()'
  return `${scheme}: leads to no page; expected http:// or https://`
}

/** The bytes of a part of a request in its encoding, one a character. */
export function bytesIn(
  encoding: string,
  text: string,
  code: 'WL_REQUEST_INVALID' | 'WL_HEADER_INVALID',
  part: string,
): string {
  const encode = encoderFor(encoding)
  const bytes = encode?.(text)
  if (bytes !== undefined) return bytes
  throw new WebloomError(
    code,
    encode
      ? `${part} holds a character that the request's encoding ${encoding} cannot write: ${JSON.stringify(text.slice(0, 80))}`
      : `the request's encoding is ${JSON.stringify(encoding)}, which is not known; utf-8 always works`,
  )
}
