import { InvalidUrl } from '../errors.ts'
import { encoderFor, type TextEncoderOf } from './charset-encode.ts'
import { idnaEncode } from './idna.ts'
import { splitNetloc } from './netloc.ts'
import { isAscii, quoter, unquoteText, utf8Bytes, utf8Text } from './percent.ts'
import { urlSplit, urlUnsplit } from './urlsplit.ts'

/**
 * The URL as a browser would send it: host in ASCII and lower case, everything unsafe percent-encoded, the path in
 * UTF-8, query and fragment in `encoding`. What is `%`-encoded already stays, so a safe URL comes back unchanged.
 *
 * Byte for byte `safe_url_string` of w3lib 2.4.1 on Python 3.13, so that requests have the URLs Scrapy gives them.
 *
 * Throws `InvalidUrl` where Python raises: a port that is none, broken brackets, a lone surrogate, text that
 * `encoding` cannot write, an unknown encoding.
 */
export function safeUrlString(url: string, encoding = 'utf-8'): string {
  if (encoding === 'utf-8' && ALREADY_SAFE.test(url)) return url
  const encode = encoderFor(encoding)
  if (!encode)
    throw new InvalidUrl(url, `its encoding ${JSON.stringify(encoding)} is unknown; utf-8 always works`)
  // UTF-16 alone writes ASCII in other bytes.
  return encode('a') === 'a' && ALREADY_SAFE.test(url) ? url : makeSafe(stripUrl(url), encode, encoding)
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
const ALREADY_SAFE =
  /^https?:\/\/[a-z0-9._-]+(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}))?(?:\/[\w.~:/@!$&'()*+,;=%-]*)?(?:\?[\w.~:/?@!$&()*+,;=%-]+)?(?:#[\w.~:/?@!$&'()*+,;=%-]+)?$/

// w3lib's *_SAFEST_CHARS.
const quoteUserinfoPart = quoter("!$&'()*+,")
const quotePart = quoter(":/?@!$&'()*+,;=%")
const quoteSpecialQuery = quoter(':/?@!$&()*+,;=%')

// The URL living standard's special schemes.
const SPECIAL_SCHEMES: ReadonlySet<string> = new Set(['ftp', 'file', 'http', 'https', 'ws', 'wss'])

const PORT_MAX = 65_535

function makeSafe(url: string, encode: TextEncoderOf, encoding: string): string {
  const { scheme, netloc, path, query, fragment } = urlSplit(url)
  const written = (part: string, name: string, encodePart: TextEncoderOf): string => {
    const bytes = encodePart(part)
    if (bytes !== undefined) return bytes
    const charset = encodePart === encode ? encoding : 'utf-8'
    throw new InvalidUrl(url, `its ${name} holds a character that ${charset} cannot write`)
  }
  return urlUnsplit({
    scheme,
    netloc: netloc && safeNetloc(url, netloc, written, encode),
    path: quotePart(written(path, 'path', utf8Bytes)),
    query: (SPECIAL_SCHEMES.has(scheme) ? quoteSpecialQuery : quotePart)(written(query, 'query', encode)),
    fragment: quotePart(written(fragment, 'fragment', encode)),
  })
}

type Written = (part: string, name: string, encode: TextEncoderOf) => string

/** w3lib writes all but a good host in the page's encoding, and then reads the whole as UTF-8. */
function safeNetloc(url: string, netloc: string, written: Written, encode: TextEncoderOf): string {
  const { username, password, hostname, port } = splitNetloc(netloc)
  let bytes = ''
  if (username !== undefined) {
    bytes += written(quoteUserinfo(username, written), 'user name', encode)
    if (password !== undefined) bytes += `:${written(quoteUserinfo(password, written), 'password', encode)}`
    bytes += '@'
  }
  if (hostname !== undefined) bytes += hostBytes(url, hostname, written, encode)
  if (port !== undefined) bytes += `:${written(checkedPort(url, port), 'port', encode)}`
  if (isAscii(bytes)) return bytes
  const text = utf8Text(bytes)
  if (text === undefined)
    throw new InvalidUrl(url, `its host ${JSON.stringify(netloc)} is no valid host name`)
  return text
}

function quoteUserinfo(part: string, written: Written): string {
  return quoteUserinfoPart(written(unquoteText(part), 'user name or password', utf8Bytes))
}

function hostBytes(url: string, hostname: string, written: Written, encode: TextEncoderOf): string {
  if (!hostname.includes(':')) return idnaEncode(hostname) ?? written(hostname, 'host', encode)
  if (isAscii(hostname)) return `[${hostname}]`
  throw new InvalidUrl(url, 'the zone of its IPv6 address is not ASCII')
}

function checkedPort(url: string, port: string): string {
  if (!/^[0-9]+$/.test(port) || Number(port) > PORT_MAX) {
    throw new InvalidUrl(url, `its port is ${JSON.stringify(port)}; expected a number from 0 to ${PORT_MAX}`)
  }
  return String(Number(port))
}
