/**
 * An `ETag` in few bytes, beside the page's date:
 *
 *     how     1 it is weak; three bits: the end of its text (ENDS); four bits: how the rest is written (SHAPES)
 *     …       the rest, as its shape has it
 *
 * Most servers make a tag of numbers and hashes. A number that repeats Last-Modified is not kept twice, and digits take the bits they need.
 * A tag has to be sent back as it came, so a shape counts only for a tag that comes out of it as it went in. TEXT holds any.
 *
 * Both lists are kept in records by number: add to their ends only, and never past 8 and 16.
 */

interface Shape {
  pack(text: string, date: number): Buffer | undefined
  unpack(bytes: Buffer, date: number): string
}

const WEAK = 1

/** What compressing servers (Apache, Jetty), IIS and base64 put behind. */
const ENDS = ['', '-gzip', '--gzip', '-br', ':0', '=', '=='] as const

const TEXT: Shape = {
  pack: (text) => Buffer.from(text),
  unpack: (bytes) => bytes.toString(),
}

/** A hash. */
const HEX: Shape = {
  pack: (text) => (/^(?:[0-9a-f]{2})+$/.test(text) ? Buffer.from(text, 'hex') : undefined),
  unpack: (bytes) => bytes.toString('hex'),
}

/** A number in hex digits, without leading zeros. */
const NUMBER: Shape = { pack: numberToBytes, unpack: numberFromBytes }

/** Decimal digits, after a 1 that keeps leading zeros. */
const DECIMAL: Shape = {
  pack: (text) => (/^\d+$/.test(text) ? bytesOf(BigInt(`1${text}`)) : undefined),
  unpack: (bytes) => numberIn(bytes).toString().slice(1),
}

/** Express: the length, and the beginning of a SHA-1 in base64. */
const BASE64_CHARS = 27
const BASE64_BYTES = 20
const LENGTH_AND_BASE64: Shape = {
  pack: (text) => {
    const [length, base64] = cut(text, text.indexOf('-'))
    const number = numberToBytes(length)
    if (!number || base64.length !== BASE64_CHARS) return undefined
    return Buffer.concat([Buffer.from(base64, 'base64').subarray(0, BASE64_BYTES), number])
  },
  unpack: (bytes) =>
    `${numberFromBytes(bytes.subarray(BASE64_BYTES))}-${bytes.toString('base64', 0, BASE64_BYTES).slice(0, BASE64_CHARS)}`,
}

/** nginx: the page's date, and its length. */
const DATE_AND_LENGTH: Shape = {
  pack: (text, date) => {
    const [first, length] = cut(text, text.indexOf('-'))
    return first === date.toString(16) ? numberToBytes(length) : undefined
  },
  unpack: (bytes, date) => `${date.toString(16)}-${numberFromBytes(bytes)}`,
}

/** Servers in Node.js (milliseconds), Apache (microseconds): the length, and the page's date. What is left of its second comes first. */
function lengthAndDate(perSecond: number, restBytes: number): Shape {
  return {
    pack: (text, date) => {
      const [length, moment] = cut(text, text.lastIndexOf('-'))
      const number = numberToBytes(length)
      const rest = Number.parseInt(moment, 16) - date * perSecond
      if (!number || !(rest >= 0 && rest < perSecond)) return undefined
      const bytes = Buffer.alloc(restBytes)
      if (restBytes > 0) bytes.writeUIntBE(rest, 0, restBytes)
      return Buffer.concat([bytes, number])
    },
    unpack: (bytes, date) => {
      const rest = restBytes > 0 ? bytes.readUIntBE(0, restBytes) : 0
      return `${numberFromBytes(bytes.subarray(restBytes))}-${(date * perSecond + rest).toString(16)}`
    },
  }
}

/** Two numbers: those of nginx and Apache where they are not the page's date. The first byte says how long the first is. */
const TWO_NUMBERS: Shape = {
  pack: (text) => {
    const [first, second] = cut(text, text.indexOf('-')).map(numberToBytes)
    return first && second && Buffer.concat([Buffer.of(first.length), first, second])
  },
  unpack: (bytes) => {
    const end = 1 + bytes[0]!
    return `${numberFromBytes(bytes.subarray(1, end))}-${numberFromBytes(bytes.subarray(end))}`
  },
}

/** Text of 64 different characters, as one number: six bits each, after a 1 that keeps how many there are. */
function sixBits(last: string): Shape {
  const letters = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${last}`
  return {
    pack: (text) => {
      let number = 1n
      for (const letter of text) {
        const value = letters.indexOf(letter)
        if (value < 0) return undefined
        number = number * 64n + BigInt(value)
      }
      return bytesOf(number)
    },
    unpack: (bytes) => {
      let text = ''
      for (let number = numberIn(bytes); number > 1n; number /= 64n)
        text = letters[Number(number % 64n)] + text
      return text
    },
  }
}

/** They hold most texts, in more bytes than the others, and take longer. */
const WIDE_SHAPES: readonly Shape[] = [TEXT, sixBits('-_'), sixBits('+/')]
const NARROW_SHAPES: readonly Shape[] = [
  HEX,
  NUMBER,
  DECIMAL,
  LENGTH_AND_BASE64,
  DATE_AND_LENGTH,
  lengthAndDate(1, 0),
  lengthAndDate(1000, 2),
  lengthAndDate(1_000_000, 3),
  TWO_NUMBERS,
]
const SHAPES = [...WIDE_SHAPES, ...NARROW_SHAPES]

/**
 * Returns the tag in as few bytes as a shape makes of it; undefined for what is no tag.
 *
 * @param date of the page, in seconds; NaN for none
 */
export function packTag(etag: string, date: number): Buffer | undefined {
  const [, weak, text] = /^(W\/)?"(.*)"$/s.exec(etag) ?? []
  if (text === undefined) return undefined
  const packedBy = (shapes: readonly Shape[]) =>
    [...packedTexts(text, date, shapes)]
      .map(([how, bytes]) => Buffer.concat([Buffer.of(how | (weak === undefined ? 0 : WEAK)), bytes]))
      .sort((one, other) => one.length - other.length)
      .find((bytes) => unpackTag(bytes, date) === etag)
  return packedBy(NARROW_SHAPES) ?? packedBy(WIDE_SHAPES)
}

function* packedTexts(
  text: string,
  date: number,
  shapes: readonly Shape[],
): Generator<[how: number, bytes: Buffer]> {
  for (const [n, end] of ENDS.entries()) {
    if (!text.endsWith(end)) continue
    const rest = text.slice(0, text.length - end.length)
    for (const shape of shapes) {
      const bytes = shape.pack(rest, date)
      if (bytes) yield [(n << 1) | (SHAPES.indexOf(shape) << 4), bytes]
    }
  }
}

/** @param date as it was when the tag was packed */
export function unpackTag(bytes: Buffer, date: number): string {
  const how = bytes[0]!
  const text = SHAPES[how >> 4]?.unpack(bytes.subarray(1), date)
  return `${(how & WEAK) === 0 ? '' : 'W/'}"${text}${ENDS[(how >> 1) & 7]}"`
}

/** Parts a text at a place, which goes. Without a place all of it is the second part. */
function cut(text: string, at: number): [string, string] {
  return [text.slice(0, Math.max(0, at)), text.slice(at + 1)]
}

function numberToBytes(digits: string): Buffer | undefined {
  return /^(?:0|[1-9a-f][0-9a-f]*)$/.test(digits) ? bytesOf(BigInt(`0x${digits}`)) : undefined
}

function numberFromBytes(bytes: Buffer): string {
  return numberIn(bytes).toString(16)
}

/** Returns the bytes of a number; none for 0. */
function bytesOf(number: bigint): Buffer {
  if (number === 0n) return Buffer.alloc(0)
  const digits = number.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

function numberIn(bytes: Buffer): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString('hex')}`)
}
