import { TextDecoder } from 'node:util'
import iconv from 'iconv-lite'

/**
 * Decoders as the web's Encoding Standard has them, by whichever Node they run. Node's own are taken where they are right. They are
 * not: in Node 22 for windows-1252, which is read as ISO 8859-1, so that “ and € become control characters, with slips in some
 * others; in every Node for Big5 and EUC-KR.
 */
export interface TextDecoderOf {
  /** The standard's name for it. */
  readonly encoding: string
  /** Wrong bytes become U+FFFD. */
  decode(bytes: Uint8Array): string
}

/**
 * Returns the decoder; undefined when the standard knows no such label.
 *
 * @param options.ignoreBOM whether a byte order mark stays in the text
 */
export function textDecoder(label: string, options?: { ignoreBOM: boolean }): TextDecoderOf | undefined {
  const encoding = encodingOf(label)
  if (encoding === undefined) return undefined
  if (encoding === 'big5') return { encoding, decode: big5Text }
  if (encoding === 'euc-kr') return { encoding, decode: koreanText }
  const characters = charactersOf(encoding)
  if (characters) return { encoding, decode: (bytes) => textBy(characters, bytes) }
  const decoder = new TextDecoder(AS_ANOTHER.get(encoding) ?? encoding, options)
  return { encoding, decode: (bytes) => decoder.decode(bytes) }
}

/** Returns the standard's name for the encoding of a label; undefined when it has none. */
export function encodingOf(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding
  } catch {
    // RangeError: this Node knows no such label.
    const name = label.trim().toLowerCase()
    return IDENTITY.has(name) ? name : undefined
  }
}

/** With the signs of Hong Kong (HKSCS), such as 嘅, which Node reads as private characters. */
function big5Text(bytes: Uint8Array): string {
  return iconv.decode(bufferOf(bytes), 'big5hkscs')
}

/**
 * With the syllables that KS X 1001 has not, such as 똠, which Node reads as wrong bytes or control characters. It is thirty times as
 * fast, so it is asked first.
 */
function koreanText(bytes: Uint8Array): string {
  const text = new TextDecoder('euc-kr').decode(bytes)
  return /[\x80-\xa0\ufffd]/.test(text) ? iconv.decode(bufferOf(bytes), 'cp949') : text
}

// "gbk's decoder is gb18030's decoder"; Node 22 has one of its own.
const AS_ANOTHER = new Map([['gbk', 'gb18030']])

/** Encodings of one byte a character that some Node reads otherwise: the characters that are meant from that byte on. */
const ONE_BYTE: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  'windows-1252': { 128: '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ' },
  'windows-1253': { 170: '\ufffd' },
  'windows-1255': { 202: '\u05ba' },
  'windows-874': { 219: '\ufffd'.repeat(4), 252: '\ufffd'.repeat(4) },
  ibm866: { 26: '\x1a', 28: '\x1c', 127: '\x7f' },
  'koi8-u': { 174: 'ў', 190: 'Ў' },
  'iso-8859-16': {
    161: 'ĄąŁ€„Š§š©Ș«Ź\xadźŻ°±ČłŽ”¶·žčș»ŒœŸżÀÁÂĂÄĆÆÇÈÉÊËÌÍÎÏĐŃÒÓÔŐÖŚŰÙÚÛÜĘȚßàáâăäćæçèéêëìíîïđńòóôőöśűùúûüęțÿ',
  },
  'x-user-defined': { 128: String.fromCharCode(...Array.from({ length: 0x80 }, (_, n) => 0xf780 + n)) },
}
/** Of these, those whose other bytes are their characters' numbers: Node 22 does not know two of them at all. */
const IDENTITY = new Set(['windows-1252', 'iso-8859-16', 'x-user-defined'])

// A character for each byte, or null where this Node's decoder is right. One entry for each encoding of the table above.
const tables = new Map<string, Uint16Array | null>()

function charactersOf(encoding: string): Uint16Array | null {
  const corrections = ONE_BYTE[encoding]
  if (!corrections) return null
  let table = tables.get(encoding)
  if (table === undefined) {
    table = isRead(encoding, corrections) ? null : correctedTable(encoding, corrections)
    tables.set(encoding, table)
  }
  return table
}

/** Whether this Node's decoder reads the characters as they are meant. */
function isRead(encoding: string, corrections: Readonly<Record<number, string>>): boolean {
  try {
    const decoder = new TextDecoder(encoding)
    return Object.entries(corrections).every(
      ([first, text]) =>
        decoder.decode(Uint8Array.from({ length: text.length }, (_, n) => Number(first) + n)) === text,
    )
  } catch {
    // RangeError: this Node does not know the encoding.
    return false
  }
}

function correctedTable(encoding: string, corrections: Readonly<Record<number, string>>): Uint16Array {
  const decoder = IDENTITY.has(encoding) ? undefined : new TextDecoder(encoding)
  const table = Uint16Array.from({ length: 256 }, (_, byte) =>
    decoder ? decoder.decode(Uint8Array.of(byte)).charCodeAt(0) : byte,
  )
  for (const [first, text] of Object.entries(corrections))
    for (let n = 0; n < text.length; n++) table[Number(first) + n] = text.charCodeAt(n)
  return table
}

function textBy(characters: Uint16Array, bytes: Uint8Array): string {
  const utf16 = Buffer.allocUnsafe(bytes.length * 2)
  for (let at = 0; at < bytes.length; at++) {
    const unit = characters[bytes[at]!]!
    utf16[2 * at] = unit & 0xff
    utf16[2 * at + 1] = unit >> 8
  }
  return utf16.toString('utf16le')
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
