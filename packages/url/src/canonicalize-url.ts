import { encoderFor, type TextEncoderOf } from './charset/charset-encode.ts'
import { InvalidUrl } from './errors.ts'
import { idnaEncode } from './host/idna.ts'
import { writtenIpv6 } from './host/ipv6.ts'
import { checkOptions, type OptionNames } from './options/known-options.ts'
import { checkText } from './options/text-given.ts'
import { quoter, unquote, utf8Bytes } from './percent.ts'
import { safeParts, stripUrl } from './safe-url.ts'
import { checkRules, NEWEST_URL_RULES, type UrlRules } from './url-rules.ts'
import { joinParams, splitParams, type UrlParts, urlSplit, urlUnsplit } from './urlsplit.ts'

/** What `canonicalizeUrl` keeps of a URL, and by whose rules. */
export interface CanonicalizeOptions {
  /** True: `#a` and `#b` of one page are two pages. Default false: fragments are dropped. */
  keepFragments?: boolean
  /** False: query parameters without a value are dropped. Default true. */
  keepBlankValues?: boolean
  /** Encoding of query and fragment; a URL that it cannot write is written in UTF-8. Default utf-8. */
  encoding?: string
  /** Default w3lib-2.5. */
  rules?: UrlRules
}

const OF = 'canonicalizeUrl'
const PLACE = { of: OF }
const OPTIONS = {
  keepFragments: true,
  keepBlankValues: true,
  encoding: true,
  rules: true,
} as const satisfies OptionNames<CanonicalizeOptions>

/**
 * Returns the form in which URLs are compared: two URLs with the same answer are one page to the duplicate filter.
 * Query parameters are sorted, escapes written alike, the host in lower case and ASCII, the fragment dropped.
 *
 * Byte for byte `canonicalize_url` of the w3lib that `rules` name, so that filters filled by Scrapy or scrapy-redis
 * know our requests. Hence also what one would not expect: default ports stay, and by the rules of 2.4 `;` separates
 * query parameters, dot segments stay, and `%2541` becomes `%41`.
 *
 * Throws `InvalidUrl` for broken brackets, lone surrogates and unknown encodings; by the rules of 2.5 also for a port
 * that is not a number up to 65535. Throws WL_USAGE for an option or rules that do not exist.
 */
export function canonicalizeUrl(url: string, options: CanonicalizeOptions = {}): string {
  checkText(url, OF)
  checkOptions(options, OPTIONS, PLACE)
  checkRules(options.rules, OF)
  return canonicalizePlain(url, options) ?? canonicalizeAny(stripUrl(url), options)
}

// Escapes that are what this function would write itself, in a path and in a query. `%2F` and `%3F` stay escaped, and by
// the rules of 2.5 `%25` and `%3B`.
const PATH_ESCAPE_24 = '%(?:[01][0-9A-F]|2[023F]|3[CEF]|5[CE]|60|7[BDF]|[89A-F][0-9A-F])'
const PATH_ESCAPE = '%(?:[01][0-9A-F]|2[0235F]|3[BCEF]|5[CE]|60|7[BDF]|[89A-F][0-9A-F])'
const QUERY_ESCAPE = '%(?:[01][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[BCDF]|[89A-F][0-9A-F])'
const PATH_CHARS = String.raw`[\w.~:/@!$&'()*+,=|[\]-]*`
const QUERY_CHARS = '[\\w.~+&=-]*'
// 2.5 looks at the port, and writes it without leading zeros.
const PORT = '(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}))?'

// Most links: http(s), a host in lower case, a path without `;params`. Sticky: it says where they end.
const PLAIN_24 = new RegExp(
  `https?://[a-z0-9._-]+(?::[0-9]+)?/${PATH_CHARS}(?:${PATH_ESCAPE_24}${PATH_CHARS})*`,
  'y',
)
// Segment by segment, as none may be a dot segment; those that begin with a dot go the thorough way, too.
const SEGMENT_CHARS = PATH_CHARS.replace('/', '')
const PLAIN = new RegExp(
  `https?://[a-z0-9._-]+${PORT}(?:/(?!\\.)${SEGMENT_CHARS}(?:${PATH_ESCAPE}${SEGMENT_CHARS})*)+(?!/)`,
  'y',
)
const PLAIN_QUERY = new RegExp(`^${QUERY_CHARS}(?:${QUERY_ESCAPE}${QUERY_CHARS})*$`)

/** The cheap way, which most links can go; undefined when this one cannot. */
function canonicalizePlain(url: string, options: CanonicalizeOptions): string | undefined {
  if (options.encoding !== undefined) return undefined
  const rules = options.rules ?? NEWEST_URL_RULES
  const plain = rules === 'w3lib-2.4' ? PLAIN_24 : PLAIN
  plain.lastIndex = 0
  if (!plain.test(url)) return undefined
  const pathEnd = plain.lastIndex
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
  return options.rules === 'w3lib-2.4' ? canonicalizeAny24(url, options) : canonicalizeAny25(url, options)
}

function canonicalizeAny25(url: string, options: CanonicalizeOptions): string {
  const split = urlSplit(url, '', 'w3lib-2.5')
  const [query, fragment] = queryAndFragment(url, split, options.encoding)
  const safe = safeParts(url, split, { query, fragment: split.fragment && fragment })
  const [path, params] = splitParams(safe.scheme, safe.path)
  const canonicalPath = quotePath(unquotePath(path, KEPT_ESCAPES)) || '/'
  return urlUnsplit({
    scheme: safe.scheme,
    netloc: shortIpv6(lowerHost(safe.netloc)),
    path: joinParams(
      canonicalPath.startsWith('/') ? withoutDotSegments(canonicalPath) : canonicalPath,
      params,
    ),
    query: sortQuery(safe.query, '&', options.keepBlankValues ?? true),
    fragment: options.keepFragments ? safe.fragment : '',
  })
}

/** RFC 3986 §5.2.4, for a path that starts with a slash. */
function withoutDotSegments(path: string): string {
  if (!path.includes('/.')) return path
  const segments = path.slice(1).split('/')
  const resolved: string[] = []
  for (const segment of segments) {
    if (segment === '..') resolved.pop()
    else if (segment !== '.') resolved.push(segment)
  }
  // What ends with a dot segment is a directory.
  const last = segments.at(-1)
  if (last === '.' || last === '..') resolved.push('')
  return `/${resolved.join('/')}`
}

function shortIpv6(netloc: string): string {
  const open = netloc.indexOf('[')
  const close = netloc.indexOf(']', open)
  if (open < 0 || close < 0) return netloc
  const address = writtenIpv6(netloc.slice(open + 1, close))
  return address === undefined ? netloc : `${netloc.slice(0, open)}[${address}]${netloc.slice(close + 1)}`
}

function canonicalizeAny24(url: string, options: CanonicalizeOptions): string {
  const parts = urlSplit(url)
  const { scheme, netloc } = parts
  const [path, params] = splitParams(scheme, parts.path)
  const [query, fragment] = queryAndFragment(url, parts, options.encoding)
  const quotedPath = quotePath(inUtf8(url, path))
  return urlUnsplit({
    scheme,
    netloc: lowerHost(idnaEncode(netloc) ?? netloc),
    path: joinParams(
      quotePath(unquotePath(quotedPath, KEPT_ESCAPES_24)) || '/',
      quotePart(inUtf8(url, params)),
    ),
    query: sortQuery(quotePart(query), /[&;]/, options.keepBlankValues ?? true),
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

// `/` and `?` would change where the path ends; `;` and `%` are left to the rules of 2.5.
const KEPT_ESCAPES_24 = /%(?:2f|3f)/gi
const KEPT_ESCAPES = /%(?:25|2f|3b|3f)/gi

/** Escapes become bytes, but for those that are to be kept. */
function unquotePath(path: string, kept: RegExp): string {
  if (!path.includes('%')) return path
  return unquote(path.replace(kept, (kept) => `%25${kept.slice(1).toUpperCase()}`))
}

function sortQuery(query: string, separator: string | RegExp, keepBlankValues: boolean): string {
  if (query === '') return ''
  const pairs: [key: string, value: string][] = []
  for (const piece of query.split(separator)) {
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
