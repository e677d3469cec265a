import { encoderFor, type TextEncoderOf } from './charset/charset-encode.ts'
import { InvalidUrl } from './errors.ts'
import { idnaEncode } from './host/idna.ts'
import { splitNetloc } from './host/netloc.ts'
import { checkOptions, type OptionNames } from './options/known-options.ts'
import { checkText } from './options/text-given.ts'
import { isAscii, quoter, unquote, unquoteText, utf8Bytes, utf8Text } from './percent.ts'
import { checkRules, NEWEST_URL_RULES, SPECIAL_SCHEMES, type UrlRules } from './url-rules.ts'
import { type UrlParts, urlSplit, urlUnsplit } from './urlsplit.ts'

/** How a URL is made safe. */
export interface SafeUrlOptions {
  /** Encoding of query and fragment. Default utf-8. */
  readonly encoding?: string
  /** Default w3lib-2.5. */
  readonly rules?: UrlRules
}

/**
 * Returns the URL as a browser would send it: host in ASCII and lower case, everything unsafe percent-encoded, the path
 * in UTF-8, query and fragment in `encoding`. What is `%`-encoded already stays, so a safe URL comes back unchanged.
 *
 * Byte for byte `safe_url_string` of the w3lib that `rules` name, so that requests have the URLs Scrapy gives them.
 *
 * Throws `InvalidUrl` where Python raises: a port that is not a number up to 65535, broken brackets, a lone surrogate,
 * text that `encoding` cannot write, an unknown encoding. Throws WL_USAGE for an option or rules that do not exist.
 *
 * @param options an encoding alone may be given as its name
 */
export function safeUrlString(url: string, options: SafeUrlOptions | string = {}): string {
  checkText(url, OF)
  const { encoding = 'utf-8', rules = NEWEST_URL_RULES } =
    typeof options === 'string' ? { encoding: options } : checkedOptions(options)
  const alreadySafe = ALREADY_SAFE[rules]
  if (encoding === 'utf-8' && alreadySafe.test(url)) return url
  const encode = encoderFor(encoding)
  if (!encode)
    throw new InvalidUrl(url, `its encoding ${JSON.stringify(encoding)} is unknown; utf-8 always works`)
  // UTF-16 alone writes ASCII in other bytes.
  if (encode('a') === 'a' && alreadySafe.test(url)) return url
  const stripped = stripUrl(url)
  return rules === 'w3lib-2.4' ? makeSafe24(stripped, encode, encoding) : makeSafe(stripped, encode, encoding)
}

const OF = 'safeUrlString'
const PLACE = { of: OF }
const OPTIONS = { encoding: true, rules: true } as const satisfies OptionNames<SafeUrlOptions>

function checkedOptions(options: SafeUrlOptions): SafeUrlOptions {
  checkOptions(options, OPTIONS, PLACE)
  checkRules(options.rules, OF)
  return options
}

/** Without controls and spaces at both ends, and without tabs and newlines anywhere. */
export function stripUrl(url: string): string {
  let start = 0
  let end = url.length
  // By hand: a pattern such as /[\0-\x20]+$/ takes quadratic time on a long run of spaces inside.
  while (start < end && url.charCodeAt(start) <= SPACE) start++
  while (end > start && url.charCodeAt(end - 1) <= SPACE) end--
  return url.slice(start, end).replace(/[\t\n\r]/g, '')
}

const SPACE = 0x20

// Most links: http(s), a plain host in lower case, and only characters that no part of a URL has to encode.
// An empty query or fragment would be dropped, hence the `+` behind `?` and `#`.
const ORIGIN = String.raw`^https?:\/\/[a-z0-9._-]+(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}))?`
const PATH = String.raw`\/[\w.~:/@!$&'()*+,;=%-]*`
const QUERY = String.raw`(?:\?[\w.~:/?@!$&()*+,;=%-]+)?`
const FRAGMENT = String.raw`(?:#[\w.~:/?@!$&'()*+,;=%-]+)?$`
const ALREADY_SAFE: Readonly<Record<UrlRules, RegExp>> = {
  'w3lib-2.4': new RegExp(`${ORIGIN}(?:${PATH})?${QUERY}${FRAGMENT}`),
  'w3lib-2.5': new RegExp(`${ORIGIN}(?:${PATH}${QUERY})?${FRAGMENT}`),
}

// w3lib's *_SAFEST_CHARS.
const quoteUserinfoPart = quoter("!$&'()*+,")
const quotePart = quoter(":/?@!$&'()*+,;=%")
const quoteSpecialQuery = quoter(':/?@!$&()*+,;=%')

const PORT_MAX = 65_535

function makeSafe(url: string, encode: TextEncoderOf, encoding: string): string {
  const parts = urlSplit(url, '', 'w3lib-2.5')
  const written = writer(url, encode, encoding)
  return urlUnsplit(
    safeParts(url, parts, {
      query: written(parts.query, 'query', encode),
      fragment: parts.fragment && written(parts.fragment, 'fragment', encode),
    }),
  )
}

/** Returns the parts made safe by the rules of w3lib 2.5; query and fragment are given in bytes. */
export function safeParts(
  url: string,
  { scheme, netloc, path }: UrlParts,
  { query, fragment }: { query: string; fragment: string },
): UrlParts {
  const written = writer(url, utf8Bytes, 'utf-8')
  const isSpecial = SPECIAL_SCHEMES.has(scheme)
  const safePath = quotePart(written(path, 'path', utf8Bytes))
  return {
    scheme,
    netloc: netloc && safeNetloc(url, netloc, written, utf8Bytes, idnaOfNormal),
    // Without one, `?x` would be sent as the target of the request.
    path: safePath === '' && query !== '' && isSpecial ? '/' : safePath,
    query: (isSpecial ? quoteSpecialQuery : quotePart)(query),
    fragment: quotePart(fragment),
  }
}

/** As browsers, w3lib 2.5 normalises before it encodes; an ASCII host is taken as it is, whatever its labels. */
function idnaOfNormal(hostname: string): string | undefined {
  return isAscii(hostname) ? hostname : idnaEncode(hostname.normalize('NFKC'))
}

function makeSafe24(url: string, encode: TextEncoderOf, encoding: string): string {
  const { scheme, netloc, path, query, fragment } = urlSplit(url)
  const written = writer(url, encode, encoding)
  return urlUnsplit({
    scheme,
    netloc: netloc && safeNetloc(url, netloc, written, encode, idnaEncode),
    path: quotePart(written(path, 'path', utf8Bytes)),
    query: (SPECIAL_SCHEMES.has(scheme) ? quoteSpecialQuery : quotePart)(written(query, 'query', encode)),
    fragment: quotePart(written(fragment, 'fragment', encode)),
  })
}

/** Throws `InvalidUrl` for a part that its encoder cannot write. */
type Written = (part: string, name: string, encode: TextEncoderOf) => string

function writer(url: string, encode: TextEncoderOf, encoding: string): Written {
  return (part, name, encodePart) => {
    const bytes = encodePart(part)
    if (bytes !== undefined) return bytes
    const charset = encodePart === encode ? encoding : 'utf-8'
    throw new InvalidUrl(url, `its ${name} holds a character that ${charset} cannot write`)
  }
}

/**
 * w3lib 2.4 writes all but a good host in the page's encoding, and then reads the whole as UTF-8; 2.5 knows UTF-8 only, and
 * takes escapes in user names for bytes where 2.4 took them for text.
 */
function safeNetloc(
  url: string,
  netloc: string,
  written: Written,
  encode: TextEncoderOf,
  idna: (hostname: string) => string | undefined,
): string {
  const { username, password, hostname, port } = splitNetloc(netloc)
  const quoteUserinfo = idna === idnaEncode ? quoteUserText : quoteUserBytes
  let bytes = ''
  if (username !== undefined) {
    bytes += written(quoteUserinfo(username, written), 'user name', encode)
    if (password !== undefined) bytes += `:${written(quoteUserinfo(password, written), 'password', encode)}`
    bytes += '@'
  }
  if (hostname !== undefined) bytes += hostBytes(url, hostname, written, encode, idna)
  if (port !== undefined) bytes += `:${written(checkedPort(url, port), 'port', encode)}`
  if (isAscii(bytes)) return bytes
  const text = utf8Text(bytes)
  if (text === undefined)
    throw new InvalidUrl(url, `its host ${JSON.stringify(netloc)} is not a valid host name`)
  return text
}

function quoteUserText(part: string, written: Written): string {
  return quoteUserinfoPart(written(unquoteText(part), 'user name or password', utf8Bytes))
}

function quoteUserBytes(part: string, written: Written): string {
  return quoteUserinfoPart(unquote(written(part, 'user name or password', utf8Bytes)))
}

function hostBytes(
  url: string,
  hostname: string,
  written: Written,
  encode: TextEncoderOf,
  idna: (hostname: string) => string | undefined,
): string {
  if (!hostname.includes(':')) return idna(hostname) ?? written(hostname, 'host', encode)
  if (isAscii(hostname)) return `[${hostname}]`
  throw new InvalidUrl(url, 'the zone of its IPv6 address is not ASCII')
}

function checkedPort(url: string, port: string): string {
  if (!/^[0-9]+$/.test(port) || Number(port) > PORT_MAX) {
    throw new InvalidUrl(url, `its port is ${JSON.stringify(port)}; expected a number from 0 to ${PORT_MAX}`)
  }
  return String(Number(port))
}
