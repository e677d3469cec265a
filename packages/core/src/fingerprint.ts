import { hash } from 'node:crypto'
import type { KnownUrl } from './known-urls.ts'
import { knownUrlOf, type Request, rememberedFingerprint } from './request.ts'
import { canonicalizeUrl } from './url/canonicalize-url.ts'

/**
 * Which fingerprints a crawl makes. They are incompatible: a filter that another tool filled is only of use with the
 * algorithm of that tool.
 *
 * - `scrapy`: Scrapy 2.7 and later (REQUEST_FINGERPRINTER_IMPLEMENTATION 2.7)
 * - `scrapy-redis`: scrapy-redis 0.8 and later; knows neither headers nor fragments
 * - `scrapy-2.6`: Scrapy until 2.6, scrapy-redis until 0.7, scrapy-cluster and both Bloom filter forks of their time
 */
export type FingerprintAlgorithm = 'scrapy' | 'scrapy-redis' | 'scrapy-2.6'

/** Which rules make the fingerprint, and what beside method, URL and body goes into it. */
export interface FingerprintOptions {
  /** Default scrapy. */
  algorithm?: FingerprintAlgorithm
  /** Requests that differ in one of these headers are different requests. Default: headers are ignored. */
  includeHeaders?: readonly string[]
  /** True: `#a` and `#b` of one page are two requests. Default false. */
  keepFragments?: boolean
}

/** Names requests, so that two requests of one name bring the same page. */
export interface Fingerprinter {
  /** Tells fingerprints that cannot be compared apart: a filter refuses to go on with those of another name. */
  readonly name: string
  /**
   * How many bytes of a hash its answers are the hex digits of: a part of them is then as good as random, and a filter
   * may keep the bytes, or some. Absent when they are any other text, of which nothing may be left out.
   */
  readonly hashBytes?: number
  /** Usually 40 lower-case hex digits. The same request gets the same answer for as long as it lives. */
  fingerprint(request: Request): string
  /** What all requests share that have this fingerprint because of their URL; undefined when more counts than the URL. */
  known?(request: Request): KnownUrl | undefined
}

/** The form in which URLs are compared; what of it is a fragment only where fragments count. */
export type Canonicalize = (url: string, keepFragments: boolean) => string

/** Scrapy's. */
export const scrapyCanonical: Canonicalize = (url, keepFragments) =>
  keepFragments ? canonicalizeUrl(url, { keepFragments }) : canonicalizeUrl(url)

/**
 * SHA-1 of method, canonical URL, body and chosen headers: 40 lower-case hex digits, equal to those of the tool that
 * `algorithm` names. Requests with equal fingerprints are duplicates to the filter, and all but one are dropped.
 *
 * With `scrapy`, a request whose `meta.verbatim_url` is true counts with its URL as it is (Scrapy 2.17 and later).
 * Throws `InvalidUrl` only for a verbatim URL that the other algorithms cannot make canonical.
 */
export function fingerprint(request: Request, options: FingerprintOptions = {}): string {
  return fingerprintBy(scrapyCanonical, request, options)
}

function fingerprintBy(canonicalize: Canonicalize, request: Request, options: FingerprintOptions): string {
  switch (options.algorithm ?? 'scrapy') {
    case 'scrapy':
      return hash('sha1', scrapyText(canonicalize, request, options))
    case 'scrapy-redis':
      return hash('sha1', jsonText(request, '', canonicalize(request.url, false)))
    case 'scrapy-2.6':
      return scrapy26(canonicalize, request, options)
  }
}

/**
 * A fingerprinter that answers a second question about a request from memory: filter and scheduler both ask.
 * The answer is that of the first time, even if a header that counts was changed since; Scrapy does the same.
 */
export function createFingerprinter(
  options: FingerprintOptions = {},
  canonicalize = scrapyCanonical,
): Fingerprinter {
  const afresh = (request: Request) => fingerprintBy(canonicalize, request, options)
  // Another canonicalizer may count what it is asked.
  const mayRemember = canonicalize === scrapyCanonical
  const known = (request: Request) =>
    mayRemember && isKnownByUrl(request, options) ? knownUrlOf(request) : undefined
  const make = (request: Request): string => {
    const url = known(request)
    return url ? url.fingerprint(make, () => afresh(request)) : afresh(request)
  }
  return {
    name: options.algorithm ?? 'scrapy',
    hashBytes: 20,
    fingerprint: (request) => rememberedFingerprint(request, make, make),
    known,
  }
}

/** True when all such requests to one URL have one fingerprint. */
function isKnownByUrl(request: Request, { includeHeaders = [] }: FingerprintOptions): boolean {
  if (request.method !== 'GET' || request.body.length > 0) return false
  return !(includeHeaders.length > 0 && request.hasHeaders) && !isVerbatim(request)
}

/** What a filter may remember a request by, other than its fingerprint: its canonical URL, or a hash of that. */
export type UrlDigest = 'url' | 'md5' | 'sha1' | 'sha256' | 'sha512'

const HASH_BYTES = { md5: 16, sha1: 20, sha256: 32, sha512: 64 } as const

/** By the URL alone: whatever their methods and bodies, requests to one URL are the same. */
export function createUrlDigester(
  digest: UrlDigest,
  { keepFragments = false }: Pick<FingerprintOptions, 'keepFragments'> = {},
  canonicalize = scrapyCanonical,
): Fingerprinter {
  const make = (request: Request) => {
    const url = canonicalUrl(canonicalize, request, keepFragments)
    return digest === 'url' ? url : hash(digest, url)
  }
  return {
    name: digest,
    ...(digest !== 'url' && { hashBytes: HASH_BYTES[digest] }),
    fingerprint: (request) => rememberedFingerprint(request, make, make),
  }
}

function scrapyText(
  canonicalize: Canonicalize,
  request: Request,
  { includeHeaders, keepFragments = false }: FingerprintOptions,
): string {
  const headers = includeHeaders && request.hasHeaders ? headersJson(request, includeHeaders) : '{}'
  const url = canonicalUrl(canonicalize, request, keepFragments)
  return jsonText(request, `"headers": ${headers}, `, url)
}

function canonicalUrl(canonicalize: Canonicalize, request: Request, keepFragments: boolean): string {
  return isVerbatim(request) ? request.url : canonicalize(request.url, keepFragments)
}

function isVerbatim(request: Request): boolean {
  return request.hasMeta && Boolean(request.meta.verbatim_url)
}

/** As Python's `json.dumps(…, sort_keys=True)` writes it, spaces included. */
function jsonText({ body, method }: Request, headersPart: string, url: string): string {
  const bodyHex = body.length === 0 ? '' : hex(body)
  return `{"body": "${bodyHex}", ${headersPart}"method": "${escapeJson(method)}", "url": "${escapeJson(url)}"}`
}

function headersJson({ headers }: Request, includeHeaders: readonly string[]): string {
  const entries = new Map<string, string>()
  for (const header of includeHeaders) {
    const name = header.toLowerCase()
    if (!headers.has(name)) continue
    const values = headers.getAll(name).map((value) => `"${hex(Buffer.from(value, 'utf8'))}"`)
    entries.set(hex(Buffer.from(name, 'utf8')), `[${values.join(', ')}]`)
  }
  const names = [...entries.keys()].sort()
  return `{${names.map((name) => `"${name}": ${entries.get(name)}`).join(', ')}}`
}

const JSON_ESCAPED = /["\\]|[^\x20-\x7e]/
const JSON_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
}

/** Python's `ensure_ascii`: unlike JSON.stringify, everything outside U+0020–U+007E is escaped, a unit at a time. */
function escapeJson(text: string): string {
  if (!JSON_ESCAPED.test(text)) return text
  return text.replace(/["\\]|[^\x20-\x7e]/g, (unit) => {
    return JSON_ESCAPES[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

/** Everything in a row without separators, and headers sorted before they are lower-cased: kept for old filters. */
function scrapy26(
  canonicalize: Canonicalize,
  request: Request,
  { includeHeaders = [], keepFragments = false }: FingerprintOptions,
): string {
  const { method, url, body } = request
  const canonical = canonicalize(url, keepFragments)
  const methodAndUrl = method + canonical.replace(NETLOC_CHANGED_SINCE, oldNetloc)
  const headers =
    includeHeaders.length > 0 && request.hasHeaders ? headersInARow(request, includeHeaders) : ''
  if (body.length === 0) return hash('sha1', methodAndUrl + headers)
  return hash('sha1', Buffer.concat([Buffer.from(methodAndUrl, 'utf8'), body, Buffer.from(headers, 'utf8')]))
}

// The w3lib that Scrapy 2.6 ran on lower-cased user names and passwords too, and lost the brackets of IPv6 addresses.
const NETLOC_CHANGED_SINCE = /(?<=^[^:/?#]+:\/\/)[^/?#@[]*[@[][^/?#]*/

function oldNetloc(netloc: string): string {
  return netloc.toLowerCase().replace(/\[([^\]]*:[^\]]*)\](?=[^@]*$)/, '$1')
}

function headersInARow({ headers }: Request, includeHeaders: readonly string[]): string {
  let row = ''
  for (const header of [...includeHeaders].sort()) {
    const name = header.toLowerCase()
    if (headers.has(name)) row += name + headers.getAll(name).join('')
  }
  return row
}
