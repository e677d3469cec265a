import { InvalidUrl } from '../errors.ts'
import { encoderFor, type TextEncoderOf } from './charset-encode.ts'
import { idnaEncode } from './idna.ts'
import { quoter, unquote, utf8Bytes } from './percent.ts'
import { stripUrl } from './safe-url.ts'
import { joinParams, splitParams, type UrlParts, urlSplit, urlUnsplit } from './urlsplit.ts'

export interface CanonicalizeOptions {
  /** True: `#a` and `#b` of one page are two pages. Default false: fragments are dropped. */
  keepFragments?: boolean
  /** False: query parameters without a value are dropped. Default true. */
  keepBlankValues?: boolean
  /** Encoding of query and fragment; a URL that it cannot write is written in UTF-8. Default utf-8. */
  encoding?: string
}

/**
 * The form in which URLs are compared: two URLs with the same answer are one page to the duplicate filter.
 * Query parameters are sorted, escapes written alike, the host in lower case and ASCII, the fragment dropped.
 *
 * Byte for byte `canonicalize_url` of w3lib 2.4.1 on Python 3.13, so that filters filled by Scrapy or scrapy-redis
 * know our requests. Hence also what one would not expect: `;` separates query parameters, default ports stay,
 * dot segments stay, and `%2541` becomes `%41`.
 *
 * Throws `InvalidUrl` for broken brackets, lone surrogates and unknown encodings; ports are not looked at.
 */
export function canonicalizeUrl(url: string, options: CanonicalizeOptions = {}): string {
  return canonicalizePlain(url, options) ?? canonicalizeAny(stripUrl(url), options)
}

// Escapes that are what this function would write itself, in a path and in a query. `%2F` and `%3F` stay escaped.
const PATH_ESCAPE = '%(?:[01][0-9A-F]|2[023F]|3[CEF]|5[CE]|60|7[BDF]|[89A-F][0-9A-F])'
const QUERY_ESCAPE = '%(?:[01][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[BCDF]|[89A-F][0-9A-F])'
const PATH_CHARS = String.raw`[\w.~:/@!$&'()*+,=|[\]-]*`
const QUERY_CHARS = '[\\w.~+&=-]*'

// Most links: http(s), a host in lower case, a path without `;params`. Sticky: it says where they end.
const PLAIN = new RegExp(
  `https?://[a-z0-9._-]+(?::[0-9]+)?/${PATH_CHARS}(?:${PATH_ESCAPE}${PATH_CHARS})*`,
  'y',
)
const PLAIN_QUERY = new RegExp(`^${QUERY_CHARS}(?:${QUERY_ESCAPE}${QUERY_CHARS})*$`)

/** The cheap way, which most links can go; undefined when this one cannot. */
function canonicalizePlain(url: string, options: CanonicalizeOptions): string | undefined {
  if (options.encoding !== undefined) return undefined
  PLAIN.lastIndex = 0
  if (!PLAIN.test(url)) return undefined
  const pathEnd = PLAIN.lastIndex
  if (pathEnd === url.length) return url
  if (options.keepFragments || options.keepBlankValues === false) return undefined
  const hash = url.indexOf('#', pathEnd)
  if (hash >= 0 && !url.isWellFormed()) return undefined
  if (hash === pathEnd) return url.slice(0, pathEnd)
  if (url.charCodeAt(pathEnd) !== QUESTION_MARK) return undefined
  const query = url.slice(pathEnd + 1, hash < 0 ? url.length : hash)
  if (!PLAIN_QUERY.test(query)) return undefined
  const sorted = sortPlainQuery(query.includes('%20') ? query.replaceAll('%20', '+') : query)
  if (sorted === undefined) return undefined
  if (sorted === query && query !== '') return hash < 0 ? url : url.slice(0, hash)
  return url.slice(0, sorted === '' ? pathEnd : pathEnd + 1) + sorted
}

const QUESTION_MARK = 0x3f

/** `query` itself when it is in order already; undefined when only its unescaped bytes tell the order. */
function sortPlainQuery(query: string): string | undefined {
  const pairs: string[] = []
  let plainValues = !query.includes('%')
  let inOrder = true
  for (let start = 0; start <= query.length; ) {
    const ampersand = query.indexOf('&', start)
    const end = ampersand < 0 ? query.length : ampersand
    const equals = query.indexOf('=', start)
    const split = equals < 0 || equals > end ? end : equals
    if (start === end || split === end) inOrder = false
    if (start < end) {
      let value = query.slice(split + 1, end)
      if (value.includes('=')) {
        value = value.replaceAll('=', '%3D')
        plainValues = inOrder = false
      }
      // U+0000 is below all that may stand here, so pairs compare as (key, value) do.
      const pair = `${query.slice(start, split)}\0${value}`
      inOrder &&= pairs.length === 0 || pairs.at(-1)! <= pair
      pairs.push(pair)
    }
    start = end + 1
  }
  if (pairs.length > 1 && !plainValues && !keysTellOrder(pairs)) return undefined
  return inOrder ? query : pairs.sort().join('&').replaceAll('\0', '=')
}

/** True when no two keys are equal and none holds an escape: then it does not matter what the values are. */
function keysTellOrder(pairs: readonly string[]): boolean {
  const keys = new Set(pairs.map((pair) => pair.slice(0, pair.indexOf('\0'))))
  if (keys.size < pairs.length) return false
  for (const key of keys) if (key.includes('%')) return false
  return true
}

// w3lib's _path_safe_chars and _safe_chars, and Python's quote_plus.
const quotePath = quoter(":/?[]@!$&'()*+,;=|%")
const quotePart = quoter(":/?#[]@!$&'()*+,;=|%")
const quotePlus = quoter('', true)

/** Any URL; it has been stripped. */
export function canonicalizeAny(url: string, options: CanonicalizeOptions): string {
  const parts = urlSplit(url)
  const { scheme, netloc } = parts
  const [path, params] = splitParams(scheme, parts.path)
  const [query, fragment] = queryAndFragment(url, parts, options.encoding)
  const quotedPath = quotePath(inUtf8(url, path))
  return urlUnsplit({
    scheme,
    netloc: lowerHost(idnaEncode(netloc) ?? netloc),
    path: joinParams(quotePath(unquotePath(quotedPath)) || '/', quotePart(inUtf8(url, params))),
    query: sortQuery(quotePart(query), options.keepBlankValues ?? true),
    fragment: options.keepFragments ? quotePart(fragment) : '',
  })
}

/** Both in `encoding`, or both in UTF-8 when it cannot write one of them. */
function queryAndFragment(url: string, { query, fragment }: UrlParts, encoding = 'utf-8'): [string, string] {
  const encode: TextEncoderOf | undefined = encoderFor(encoding)
  if (!encode)
    throw new InvalidUrl(url, `its encoding ${JSON.stringify(encoding)} is unknown; utf-8 always works`)
  const queryBytes = encode(query)
  const fragmentBytes = encode(fragment)
  if (queryBytes !== undefined && fragmentBytes !== undefined) return [queryBytes, fragmentBytes]
  return [inUtf8(url, query), inUtf8(url, fragment)]
}

function inUtf8(url: string, part: string): string {
  const bytes = utf8Bytes(part)
  if (bytes === undefined)
    throw new InvalidUrl(url, 'it holds half of a surrogate pair, which UTF-8 cannot write')
  return bytes
}

/** Escapes become bytes, but for `/` and `?`, which would otherwise change where the path ends. */
function unquotePath(path: string): string {
  if (!path.includes('%')) return path
  return unquote(path.replace(/%(?:2f|3f)/gi, (slash) => `%25${slash.slice(1).toUpperCase()}`))
}

function sortQuery(query: string, keepBlankValues: boolean): string {
  if (query === '') return ''
  const pairs: [key: string, value: string][] = []
  for (const piece of query.split(/[&;]/)) {
    if (piece === '') continue
    const equals = piece.indexOf('=')
    const value = equals < 0 ? '' : piece.slice(equals + 1)
    if (value === '' && !keepBlankValues) continue
    pairs.push([unquotePlus(equals < 0 ? piece : piece.slice(0, equals)), unquotePlus(value)])
  }
  // Byte strings: `<` is bytewise, as Python sorts, and not by UTF-16 units.
  pairs.sort(([keyA, valueA], [keyB, valueB]) => compare(keyA, keyB) || compare(valueA, valueB))
  return pairs.map(([key, value]) => `${quotePlus(key)}=${quotePlus(value)}`).join('&')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function unquotePlus(text: string): string {
  return unquote(text.includes('+') ? text.replaceAll('+', ' ') : text)
}

/** User names may differ by case, hosts may not. A colon without a port says nothing. */
function lowerHost(netloc: string): string {
  const host = netloc.lastIndexOf('@') + 1
  const lower = netloc.slice(host).toLowerCase()
  let end = lower.length
  while (lower.charCodeAt(end - 1) === COLON) end--
  return netloc.slice(0, host) + lower.slice(0, end)
}

const COLON = 0x3a
