import { isUtf8 } from 'node:buffer'
import chardet from 'chardet'
import { webLabelOf } from './charset-names.ts'
import { encodingOf, textDecoder } from './text-decoder.ts'

/**
 * Which encoding a page is in, in the order of the HTML standard ("determining the character encoding"):
 * byte order mark, Content-Type header, meta tag or XML declaration, guess.
 */

/** How long a `byteHead` is. Browsers look at 1 024 bytes for an encoding; Scrapy at 4 096, and long heads are common. */
export const HEAD_BYTES = 4096
// A guess from more bytes is no better and takes longer: 16 KiB cost about a millisecond.
const GUESS_BYTES = 16_384

const BYTE_ORDER_MARKS: readonly (readonly [string, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

// One quantifier for each run of spaces: with two in a row, a header of 64 KB takes seconds.
const CHARSET_PARAMETER = /charset\s*=\s*(?:["']\s*)?([^\s"';,]+)/i

/** Returns the beginning of a body, one character for each byte, to be looked at before its encoding is known. */
export function byteHead(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, HEAD_BYTES)).toString('latin1')
}

/**
 * Always the standard's name of an encoding.
 *
 * @param headOf the body's `byteHead`, when it is needed
 */
export function detectEncoding(
  body: Uint8Array,
  contentType: string | null,
  headOf: () => string = () => byteHead(body),
): string {
  return (
    byteOrderMark(body) ??
    knownLabel(contentType && CHARSET_PARAMETER.exec(contentType)?.[1]) ??
    declaredInMarkup(headOf()) ??
    guess(body)
  )
}

/** `body` as text without its byte order mark; wrong bytes become U+FFFD. */
export function decodeText(body: Uint8Array, encoding: string): string {
  const label = knownLabel(encoding) ?? 'utf-8'
  if (label !== 'utf-8') return textDecoder(label)!.decode(body)
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** What `safeUrlString` is to be told for a page in that encoding: Python's name, by w3lib's table of what web pages mean. */
const URL_ENCODINGS: Readonly<Record<string, string>> = {
  big5: 'big5hkscs',
  gbk: 'gb18030',
  shift_jis: 'cp932',
  'euc-kr': 'cp949',
  // No query is sent in these: browsers use UTF-8 (URL standard, "get an output encoding").
  'utf-16le': 'utf-8',
  'utf-16be': 'utf-8',
  'x-user-defined': 'utf-8',
  replacement: 'utf-8',
}

/** Returns the encoding in which a page's links have their query strings percent-encoded. */
export function urlEncodingOf(pageEncoding: string): string {
  return URL_ENCODINGS[pageEncoding] ?? pageEncoding
}

function byteOrderMark(body: Uint8Array): string | undefined {
  return BYTE_ORDER_MARKS.find(([, bytes]) => bytes.every((byte, index) => body[index] === byte))?.[0]
}

function declaredInMarkup(head: string): string | undefined {
  const markup = head.includes('<!--') ? head.replaceAll(/<!--[\s\S]*?(?:-->|$)/g, '') : head
  const declared =
    /<meta\s(?:[^>]*[\s"';])?charset\s*=\s*(?:["']\s*)?([^\s"'>;/]+)/i.exec(markup)?.[1] ??
    /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"']+)["']/i.exec(markup)?.[1]
  const label = knownLabel(declared)
  // Markup that could be read byte by byte is not in UTF-16, whatever it says (HTML standard).
  return label?.startsWith('utf-16') ? 'utf-8' : label
}

function guess(body: Uint8Array): string {
  if (isUtf8(body)) return 'utf-8'
  return knownLabel(chardet.detect(body.subarray(0, GUESS_BYTES))) ?? 'windows-1252'
}

const labels = new Map<string, string | undefined>()
// Labels come from pages: without a bound, a hostile site could fill the map.
const LABELS_MAX = 500

/** The standard's name for an encoding label in any case, or for one that only Python knows; undefined when it is none. */
function knownLabel(label: string | null | undefined): string | undefined {
  if (!label) return undefined
  if (labels.has(label)) return labels.get(label)
  const known = encodingOf(label) ?? encodingOf(webLabelOf(label.trim()) ?? '')
  if (labels.size < LABELS_MAX) labels.set(label, known)
  return known
}
