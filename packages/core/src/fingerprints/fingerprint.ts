import { hash } from 'node:crypto'
import { canonicalizeUrl, NEWEST_URL_RULES, type UrlRules } from '@webloom/url'
import type { KnownUrl } from '../requests/known-url.ts'
import { knownUrlOf, type Request, rememberedFingerprint } from '../requests/request.ts'
import { bytesIn } from '../requests/request-url.ts'
import { CrawlUrlRules, urlUnder } from './url-rules-of.ts'

/**
 * Which fingerprints a crawl makes. The algorithms are incompatible: a filter that another tool filled is useful only with
 * that tool's algorithm.
 *
 * - `scrapy`: Scrapy 2.7 and later (REQUEST_FINGERPRINTER_IMPLEMENTATION 2.7)
 * - `scrapy-redis`: scrapy-redis 0.8 and later; ignores headers and fragments
 * - `scrapy-2.6`: Scrapy until 2.6, scrapy-redis until 0.7, scrapy-cluster and both Bloom filter forks of their time
 */
export type FingerprintAlgorithm = 'scrapy' | 'scrapy-redis' | 'scrapy-2.6'

/** How the fingerprint is made, and what goes into it beside method, URL and body. */
export interface FingerprintOptions {
  /** Default scrapy. */
  algorithm?: FingerprintAlgorithm
  /** Requests that differ in one of these headers are different requests. Default: headers are ignored. */
  includeHeaders?: readonly string[]
  /** True: `#a` and `#b` of one page are two requests. Default false. */
  keepFragments?: boolean
  /** The rules by which URLs are made safe and compared. Default w3lib-2.5. */
  rules?: UrlRules
}

/** Names requests. Two requests with one name count as requests for the same page. */
export interface Fingerprinter {
  /** Differs for fingerprints that cannot be compared: a filter refuses to go on with those of another name. */
  readonly name: string
  /**
   * When the fingerprints are hex digits of a hash, its number of bytes. A part of such a fingerprint is as good as random,
   * and a filter may store some or all of the bytes. Absent when fingerprints are any other text, which must be stored
   * whole.
   */
  readonly hashBytes?: number
  /** What fingerprints are made by, as text: where it is another, they may be. Absent: `name` says all of it. */
  readonly source?: string
  /** The rules of its URLs. Absent when it was made without rules: a filter then notes none. */
  readonly urlRules?: CrawlUrlRules
  /** Returns a request's fingerprint, usually 40 lower-case hex digits. The same request always gets the same one. */
  fingerprint(request: Request): string
  /**
   * Returns what all requests share that have this fingerprint because of their URL; undefined when more than the URL
   * counts. Where it returns one, `fingerprint` must not throw: the scheduler then makes none for links that are not new.
   */
  known?(request: Request): KnownUrl | undefined
}

/** Returns the form in which URLs are compared. It contains the fragment only where fragments count. */
export type Canonicalize = (url: string, keepFragments: boolean, rules: UrlRules) => string

/** Scrapy's form. */
export const scrapyCanonical: Canonicalize = (url, keepFragments, rules) =>
  canonicalizeUrl(url, keepFragments ? { keepFragments, rules } : CANONICALIZE_OPTIONS[rules])

const CANONICALIZE_OPTIONS: Readonly<Record<UrlRules, { rules: UrlRules }>> = {
  'w3lib-2.4': { rules: 'w3lib-2.4' },
  'w3lib-2.5': { rules: 'w3lib-2.5' },
}

/**
 * Returns the SHA-1 of method, canonical URL, body and chosen headers: 40 lower-case hex digits, equal to those of the tool
 * that `algorithm` names. Requests with equal fingerprints are duplicates to the filter, and all but one are dropped.
 *
 * With `scrapy`, a request whose `meta.verbatim_url` is true counts with its URL as it is (Scrapy 2.17 and later). Throws
 * `InvalidUrl` only for a verbatim URL that the other algorithms cannot make canonical.
 */
export function fingerprint(request: Request, options: FingerprintOptions = {}): string {
  return fingerprintBy(scrapyCanonical, request, options)
}

function fingerprintBy(canonicalize: Canonicalize, request: Request, options: FingerprintOptions): string {
  const { keepFragments = false, rules = NEWEST_URL_RULES } = options
  switch (options.algorithm ?? 'scrapy') {
    case 'scrapy':
      return hash(
        'sha1',
        scrapyText(canonicalUrl(canonicalize, request, keepFragments, rules), request, options),
      )
    case 'scrapy-redis':
      return hash('sha1', jsonText(request, '', canonicalize(urlUnder(request, rules), false, rules)))
    case 'scrapy-2.6':
      return scrapy26(canonicalize(urlUnder(request, rules), keepFragments, rules), request, options)
  }
}

/**
 * Makes a fingerprinter that remembers the fingerprint of a request: filter and scheduler both need it. It stays the first
 * one even if a header that counts is changed later, as in Scrapy.
 *
 * @param urlRules the crawl's rules. Absent: those of `options`
 */
export function createFingerprinter(
  options: FingerprintOptions = {},
  canonicalize = scrapyCanonical,
  urlRules = new CrawlUrlRules(options.rules),
): Fingerprinter {
  // Another canonicalizer may count how often it is called.
  const mayRemember = canonicalize === scrapyCanonical
  const known = (request: Request) =>
    mayRemember && isKnownByUrl(request, options) ? knownUrlOf(request) : undefined
  const make = eachRules((rules) => {
    const own = { ...options, rules }
    const make = (request: Request): string => {
      const url = known(request)
      return url
        ? url.fingerprint(make, () => fingerprintBy(canonicalize, request, own))
        : fingerprintBy(canonicalize, request, own)
    }
    return make
  })
  return {
    name: options.algorithm ?? 'scrapy',
    hashBytes: 20,
    source: JSON.stringify({
      includeHeaders: options.includeHeaders ?? [],
      keepFragments: options.keepFragments ?? false,
    }),
    urlRules,
    fingerprint(request) {
      const by = make[urlRules.current]
      return rememberedFingerprint(request, by, by)
    },
    known,
  }
}

/** Makes one maker for each set of rules, as a request's fingerprint is remembered by its maker. */
function eachRules<Made>(make: (rules: UrlRules) => Made): Readonly<Record<UrlRules, Made>> {
  return { 'w3lib-2.4': make('w3lib-2.4'), 'w3lib-2.5': make('w3lib-2.5') }
}

/** Returns true when all such requests to one URL have one fingerprint. */
function isKnownByUrl(request: Request, { includeHeaders = [] }: FingerprintOptions): boolean {
  if (request.method !== 'GET' || request.body.length > 0) return false
  return !(includeHeaders.length > 0 && request.hasHeaders) && !isVerbatim(request)
}

/** What a filter may remember a request by in place of its fingerprint: its canonical URL, or a hash of that. */
export type UrlDigest = 'url' | 'md5' | 'sha1' | 'sha256' | 'sha512'

const HASH_BYTES = { md5: 16, sha1: 20, sha256: 32, sha512: 64 } as const

/** Makes a fingerprinter by the URL alone: requests to one URL are the same, whatever their methods and bodies. */
export function createUrlDigester(
  digest: UrlDigest,
  { keepFragments = false, rules }: Pick<FingerprintOptions, 'keepFragments' | 'rules'> = {},
  canonicalize = scrapyCanonical,
  urlRules = new CrawlUrlRules(rules),
): Fingerprinter {
  const make = eachRules((rules) => (request: Request) => {
    const url = canonicalUrl(canonicalize, request, keepFragments, rules)
    return digest === 'url' ? url : hash(digest, url)
  })
  return {
    name: digest,
    ...(digest !== 'url' && { hashBytes: HASH_BYTES[digest] }),
    urlRules,
    fingerprint(request) {
      const by = make[urlRules.current]
      return rememberedFingerprint(request, by, by)
    },
  }
}

function scrapyText(canonical: string, request: Request, { includeHeaders }: FingerprintOptions): string {
  const headers = includeHeaders && request.hasHeaders ? headersJson(request, includeHeaders) : '{}'
  return jsonText(request, `"headers": ${headers}, `, canonical)
}

function canonicalUrl(
  canonicalize: Canonicalize,
  request: Request,
  keepFragments: boolean,
  rules: UrlRules,
): string {
  return isVerbatim(request) ? request.url : canonicalize(urlUnder(request, rules), keepFragments, rules)
}

function isVerbatim(request: Request): boolean {
  return request.hasMeta && Boolean(request.meta.verbatim_url)
}

/** Returns the text that Python's `json.dumps(…, sort_keys=True)` writes, including its spaces. */
function jsonText({ body, method }: Request, headersPart: string, url: string): string {
  const bodyHex = body.length === 0 ? '' : hex(body)
  return `{"body": "${bodyHex}", ${headersPart}"method": "${escapeJson(method)}", "url": "${escapeJson(url)}"}`
}

function headersJson({ headers, encoding }: Request, includeHeaders: readonly string[]): string {
  const entries = new Map<string, string>()
  for (const header of includeHeaders) {
    const name = header.toLowerCase()
    if (!headers.has(name)) continue
    const values = headers.getAll(name).map((value) => `"${hex(headerBytes(encoding, name, value))}"`)
    entries.set(hex(Buffer.from(name, 'utf8')), `[${values.join(', ')}]`)
  }
  const names = [...entries.keys()].sort()
  return `{${names.map((name) => `"${name}": ${entries.get(name)}`).join(', ')}}`
}

/** Returns a header's bytes as Python sends them, in the encoding of the request. */
function headerBytes(encoding: string, name: string, value: string): Buffer {
  return Buffer.from(bytesIn(encoding, value, 'WL_HEADER_INVALID', `the header ${name}`), 'latin1')
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

/** Escapes as Python's `ensure_ascii`: unlike JSON.stringify, every UTF-16 unit outside U+0020–U+007E. */
function escapeJson(text: string): string {
  if (!JSON_ESCAPED.test(text)) return text
  return text.replace(/["\\]|[^\x20-\x7e]/g, (unit) => {
    return JSON_ESCAPES[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

/** Joins everything without separators, with headers sorted before they are lower-cased; kept for old filters. */
function scrapy26(canonical: string, request: Request, { includeHeaders = [] }: FingerprintOptions): string {
  const { method, body } = request
  const methodAndUrl = method + canonical.replace(NETLOC_CHANGED_SINCE, oldNetloc)
  const hasHeaders = includeHeaders.length > 0 && request.hasHeaders
  if (body.length === 0 && !hasHeaders) return hash('sha1', methodAndUrl)
  const headers = hasHeaders ? headersInARow(request, includeHeaders) : NO_BYTES
  return hash('sha1', Buffer.concat([Buffer.from(methodAndUrl, 'utf8'), body, headers]))
}

const NO_BYTES = Buffer.alloc(0)

// The w3lib of Scrapy 2.6 lower-cased user names and passwords, too, and lost the brackets of IPv6 addresses.
const NETLOC_CHANGED_SINCE = /(?<=^[^:/?#]+:\/\/)[^/?#@[]*[@[][^/?#]*/

function oldNetloc(netloc: string): string {
  return netloc.toLowerCase().replace(/\[([^\]]*:[^\]]*)\](?=[^@]*$)/, '$1')
}

function headersInARow({ headers, encoding }: Request, includeHeaders: readonly string[]): Buffer {
  const row: Buffer[] = []
  for (const header of [...includeHeaders].sort()) {
    const name = header.toLowerCase()
    if (!headers.has(name)) continue
    row.push(Buffer.from(name, 'utf8'))
    for (const value of headers.getAll(name)) row.push(headerBytes(encoding, name, value))
  }
  return Buffer.concat(row)
}
