import { TextDecoder } from 'node:util'
import { utf8Bytes } from '../percent.ts'
import { big5HkscsPairs } from './big5-hkscs.ts'
import { BIG5HKSCS_PIECES, CODECS, type Codec } from './charset-codecs.ts'
import { codecName } from './charset-names.ts'
import { type TextDecoderOf, textDecoder } from './text-decoder.ts'

/**
 * Text to bytes in the encoding of a page, which its links' query strings are sent in.
 *
 * JavaScript can only decode, so a table is made backwards from a decoder when an encoding is first met
 * (some 50 ms for an East Asian one). Where the decoder follows the web and Python's codec of that name its own
 * standard, the codec decides: a byte that Scrapy would not send is not sent.
 */

/** The bytes of `text` as a byte string; undefined when it holds a character the encoding does not know. */
export type TextEncoderOf = (text: string) => string | undefined

/** Returns the encoder; undefined when the encoding is unknown. Python's names are known, and those of the web. */
export function encoderFor(encoding: string): TextEncoderOf | undefined {
  if (encoding === 'utf-8') return utf8Bytes
  const known = encoders.get(encoding)
  if (known) return known
  const encoder = makeEncoder(codecName(encoding))
  // Only spellings of real encodings are kept, so pages cannot make this grow without end.
  if (encoder && encoders.size < ENCODERS_MAX) encoders.set(encoding, encoder)
  return encoder
}

const ENCODERS_MAX = 200
const encoders = new Map<string, TextEncoderOf>()
const tables = new Map<string, ReadonlyMap<string, string>>()

function makeEncoder(name: string): TextEncoderOf | undefined {
  if (name === 'utf-8') return utf8Bytes
  if (name.startsWith('utf-16')) return utf16(name)
  if (name === 'ascii') return (text) => (/^[\0-\x7f]*$/.test(text) ? text : undefined)
  if (name === 'iso-8859-1') return (text) => (/^[\0-\xff]*$/.test(text) ? text : undefined)
  if (name === 'iso-2022-jp') return iso2022Jp
  const decoder = decoderOf(CODECS.get(name)?.decoder ?? name)
  return decoder && ((text) => encode(text, name, decoder))
}

/** Of no use in a URL (browsers send UTF-8 from such pages), but it is what Python does when asked. */
function utf16(name: string): TextEncoderOf | undefined {
  if (name === 'utf-16be') return (text) => utf16Bytes(text, (low, high) => high + low)
  if (name === 'utf-16le') return (text) => utf16Bytes(text, (low, high) => low + high)
  if (name === 'utf-16') return (text) => utf16Bytes(`\ufeff${text}`, (low, high) => low + high)
  return undefined
}

function utf16Bytes(text: string, order: (low: string, high: string) => string): string | undefined {
  if (!text.isWellFormed()) return undefined
  let bytes = ''
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    bytes += order(String.fromCharCode(unit & 0xff), String.fromCharCode(unit >> 8))
  }
  return bytes
}

function decoderOf(label: string): TextDecoderOf | undefined {
  if (label === 'big5hkscs') return { encoding: label, decode: textDecoder('big5')!.decode }
  // Node's own reads no signs of Hong Kong, which the codecs big5 and cp950 do not write.
  if (label === 'big5') return new TextDecoder('big5', { ignoreBOM: true })
  const decoder = textDecoder(label, { ignoreBOM: true })
  // Stateful encodings cannot be turned round byte by byte.
  if (decoder?.encoding.startsWith('iso-2022') || decoder?.encoding === 'replacement') return undefined
  return decoder
}

function encode(text: string, name: string, decoder: TextDecoderOf): string | undefined {
  if (/^[\0-\x7f]*$/.test(text)) return text
  let table = tables.get(name)
  if (!table) {
    table = reverseTable(name, decoder)
    tables.set(name, table)
  }
  let bytes = ''
  for (const char of name === 'big5hkscs' ? (text.match(BIG5HKSCS_PIECES) ?? []) : text) {
    const encoded = char <= '\x7f' ? char : (table.get(char) ?? algorithmic(name, char))
    if (encoded === undefined) return undefined
    bytes += encoded
  }
  return bytes
}

function reverseTable(name: string, decoder: TextDecoderOf): ReadonlyMap<string, string> {
  const codec = CODECS.get(name) ?? {}
  const table = new Map<string, string>()
  for (const sequence of sequences(decoder.encoding)) {
    const char = decoder.decode(sequence)
    const bytes = sequence.reduce((number, byte) => number * 256 + byte, 0)
    if (char === '\ufffd' || !isOneCharacter(char) || table.has(char)) continue
    if (writes(name, codec, bytes, char.codePointAt(0)!)) table.set(char, String.fromCharCode(...sequence))
  }
  if (/^(?:iso-8859-|tis-620)/.test(name))
    for (let byte = 0x80; byte < 0xa0; byte++) table.set(String.fromCharCode(byte), String.fromCharCode(byte))
  if (name === 'cp949') addUhc(table)
  for (const [char, hex] of Object.entries(codec.also ?? {}))
    table.set(char, Buffer.from(hex, 'hex').toString('latin1'))
  return table
}

function writes(name: string, codec: Codec, bytes: number, codePoint: number): boolean {
  // The web reads the holes of windows-125x as control characters, and ISO 8859-9 and -11 as their Windows relatives.
  if (name.startsWith('windows-') && codePoint >= 0x80 && codePoint <= 0x9f) return false
  if (name === 'windows-1255' && bytes === 0xca) return false
  if (name.startsWith('iso-8859-') && bytes < 0xa0) return false
  return codec.writes?.(bytes, codePoint) ?? true
}

/** Every byte sequence that may stand for one character, the preferred ones first. */
function* sequences(encoding: string): Generator<Uint8Array> {
  for (let byte = 0x80; byte <= 0xff; byte++) yield Uint8Array.of(byte)
  if (encoding === 'big5hkscs') yield* big5HkscsPairs()
  if (!/^(?:gbk|gb18030|big5|shift_jis|euc-jp|euc-kr)$/.test(encoding)) return
  for (let lead = 0x81; lead <= 0xfe; lead++) {
    for (let trail = 0x40; trail <= 0xfe; trail++) yield Uint8Array.of(lead, trail)
  }
  if (encoding === 'euc-jp') {
    for (let lead = 0xa1; lead <= 0xfe; lead++) {
      for (let trail = 0xa1; trail <= 0xfe; trail++) yield Uint8Array.of(0x8f, lead, trail)
    }
  }
  if (encoding === 'gb18030') {
    for (let linear = 0; linear < GB18030_BMP_END; linear++) yield gb18030FourBytes(linear)
  }
}

// GB 18030: four-byte codes up to 0x8431A439 are the rest of the BMP; from 0x90308130 on all higher planes in order.
const GB18030_BMP_END = 39_420
const GB18030_PLANE_1 = 189_000

function gb18030FourBytes(linear: number): Uint8Array {
  return Uint8Array.of(
    0x81 + Math.floor(linear / 12_600),
    0x30 + (Math.floor(linear / 1260) % 10),
    0x81 + (Math.floor(linear / 10) % 126),
    0x30 + (linear % 10),
  )
}

function algorithmic(name: string, char: string): string | undefined {
  const codePoint = char.codePointAt(0)!
  if (name === 'gb18030' && codePoint > 0xffff) {
    return String.fromCharCode(...gb18030FourBytes(GB18030_PLANE_1 + codePoint - 0x10000))
  }
  if (name === 'euc-kr' && codePoint >= HANGUL_FIRST && codePoint <= HANGUL_LAST)
    return hangulByParts(codePoint - HANGUL_FIRST)
  return undefined
}

/**
 * Unified Hangul Code: the syllables that KS X 1001 has not, in Unicode's order, in the free places from 0x8141 on.
 */
function addUhc(table: Map<string, string>): void {
  let syllable = HANGUL_FIRST
  for (let lead = 0x81; lead <= 0xc6; lead++) {
    for (let trail = 0x41; trail <= (lead <= 0xa0 ? 0xfe : 0xa0); trail++) {
      if ((trail > 0x5a && trail < 0x61) || (trail > 0x7a && trail < 0x81)) continue
      while (table.has(String.fromCharCode(syllable))) syllable++
      if (syllable > HANGUL_LAST) return
      table.set(String.fromCharCode(syllable), String.fromCharCode(lead, trail))
    }
  }
}

const HANGUL_FIRST = 0xac00
const HANGUL_LAST = 0xd7a3

// KS X 1001 has 2 350 syllables; Python's euc_kr spells the others as a filler and three letters (annex 3).
const LEADS = [
  0xa1, 0xa2, 0xa4, 0xa7, 0xa8, 0xa9, 0xb1, 0xb2, 0xb3, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd,
  0xbe,
]
const TAILS = [
  0xd4, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf, 0xb0, 0xb1, 0xb2,
  0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xba, 0xbb, 0xbc, 0xbd, 0xbe,
]

function hangulByParts(syllable: number): string {
  const lead = LEADS[Math.floor(syllable / 588)]!
  const vowel = 0xbf + (Math.floor(syllable / 28) % 21)
  const tail = TAILS[syllable % 28]!
  return String.fromCharCode(0xa4, 0xd4, 0xa4, lead, 0xa4, vowel, 0xa4, tail)
}

const ESCAPE_ASCII = '\x1b(B'
const ESCAPE_ROMAN = '\x1b(J'
const ESCAPE_KANJI = '\x1b$B'

/** JIS X 0208 as in EUC-JP, less the high bits, between escape sequences. */
function iso2022Jp(text: string): string | undefined {
  const eucJp = encoderFor('euc-jp')!
  let state = ESCAPE_ASCII
  let bytes = ''
  for (const char of text) {
    const euc = eucJp(char)
    // Neither half-width kana nor JIS X 0212, which EUC-JP writes with a shift byte.
    if (euc === undefined || euc.length > 2 || euc.startsWith('\x8e')) return undefined
    const wanted = euc.length === 2 ? ESCAPE_KANJI : euc === char ? ESCAPE_ASCII : ESCAPE_ROMAN
    if (wanted !== state) bytes += wanted
    state = wanted
    bytes += euc.length === 1 ? euc : String.fromCharCode(euc.charCodeAt(0) & 0x7f, euc.charCodeAt(1) & 0x7f)
  }
  return state === ESCAPE_ASCII ? bytes : bytes + ESCAPE_ASCII
}

function isOneCharacter(text: string): boolean {
  return text.length === 1 || (text.length === 2 && text.codePointAt(0)! > 0xffff)
}
