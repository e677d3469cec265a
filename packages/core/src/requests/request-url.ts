/** Makes a request's URL of an author's or a page's text: safe, and leading to a page. */

import { encoderFor, InvalidUrl, ownCopy, safeUrlString, type UrlRules } from '@webloom/url'
import { WebloomError } from '../errors/errors.ts'
import { KnownUrl } from './known-url.ts'

/** Returns what these rules make of a URL that is written in a page of that encoding. Throws `InvalidUrl`. */
export function urlOfWritten(written: string, encoding: string, rules: UrlRules): KnownUrl {
  const safe = safeUrlFor(written, encoding, rules)
  return new KnownUrl(safe, rules, safe === written ? safe : ownCopy(written))
}

/** Returns the URL that a request is made to, in memory of its own. Throws `InvalidUrl`. */
export function safeUrlFor(written: string, encoding: string, rules: UrlRules): string {
  return safeForm(written, safeUrlString(written, { rules, encoding }))
}

export function urlText(url: string | URL): string {
  if (typeof url === 'string') return url
  if (url instanceof URL) return url.href
  throw new InvalidUrl(String(url), `expected a string or a URL, got ${url === null ? 'null' : typeof url}`)
}

/** Returns `safe` in memory of its own. Throws `InvalidUrl` when it has no scheme, or one that leads to no page. */
export function safeForm(written: string, safe: string): string {
  if (!safe.includes('://') && !safe.startsWith('about:') && !safe.startsWith('data:'))
    throw new InvalidUrl(written, notRequestable(written))
  return ownCopy(safe)
}

// `localhost:8000/x` is a host and its port, and not an address of a scheme `localhost`; a telephone number has no port.
const SCHEME_ALONE = /^\s*(?!(?!tel:|sms:)[^:]*:\d{1,5}(?:[/?#]|\s*$))([a-z][a-z0-9+-]*):/i

const NO_PAGES: ReadonlySet<string> = new Set(['javascript', 'mailto', 'sms', 'tel'])

function notRequestable(url: string): string {
  const scheme = SCHEME_ALONE.exec(url)?.[1]?.toLowerCase()
  if (scheme === undefined)
    return 'it has no scheme; write https://… or resolve it first with response.urljoin()'
  if (NO_PAGES.has(scheme)) return `${scheme}: leads to no page; expected http:// or https://`
  return `a URL has // after its scheme; write http://…, https://…, or ${scheme}://… if a download handler is set for it`
}

/** Returns the bytes of a part of a request in its encoding, one character for each byte. */
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
