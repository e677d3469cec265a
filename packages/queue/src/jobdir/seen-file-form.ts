/**
 * The two forms of Scrapy's `requests.seen`, which tell themselves apart by their first byte:
 *
 *     text     until Scrapy 2.18: a line of hex digits for each fingerprint. A fingerprint of a user's own is its text.
 *     binary   since Scrapy 2.19: two bytes of length, high byte first, and so many bytes of fingerprint
 *
 * A line begins with a printable character, a record with the high byte of a length that is never so great.
 */

import { hash } from 'node:crypto'

export type SeenFileFormName = 'text' | 'binary'

/** What bytes hold: whole entries, and how many bytes of `bytes` they are. Throws `NoSuchForm`. */
export interface SeenEntries {
  readonly fingerprints: readonly string[]
  readonly bytes: number
}

export interface SeenFileForm {
  readonly name: SeenFileFormName
  encode(fingerprint: string): Buffer
  /** How `encode` makes it come back. */
  known(fingerprint: string): string
  read(bytes: Buffer): SeenEntries
  /** Throws `NoSuchForm` when the bytes, which are no whole entry, cannot be the beginning of one either. */
  checkTorn(bytes: Buffer): void
}

/** At byte `at` of what was read the file leaves its form. */
export class NoSuchForm extends Error {
  readonly at: number

  constructor(at: number) {
    super(`no form goes on at byte ${at}`)
    this.at = at
  }
}

const LF = 0x0a
const SPACE = 0x20
const SIZE_BYTES = 2
// 0x09 and more would be a tab, a line feed and then letters: the first byte of a text. SHA-512 has 64 bytes.
const RECORD_BYTES_MAX = 0x08ff
const HEX = /^(?:[0-9a-f]{2})+$/

export function formOf(firstByte: number): SeenFileForm {
  return firstByte <= RECORD_BYTES_MAX >> 8 ? BINARY : TEXT
}

export const TEXT: SeenFileForm = {
  name: 'text',
  encode: (fingerprint) => Buffer.from(`${fingerprint.replaceAll(/[\r\n]/g, ' ')}\n`),
  known: (fingerprint) => fingerprint.replaceAll(/[\r\n]/g, ' ').trimEnd(),
  read(bytes) {
    const end = bytes.lastIndexOf(LF) + 1
    checkText(bytes.subarray(0, end))
    const lines = end === 0 ? [] : bytes.toString('utf8', 0, end - 1).split('\n')
    return { fingerprints: lines.map((line) => line.trimEnd()).filter((line) => line !== ''), bytes: end }
  },
  checkTorn: checkText,
}

export const BINARY: SeenFileForm = {
  name: 'binary',
  encode(fingerprint) {
    const bytes = recordOf(fingerprint)
    const record = Buffer.alloc(SIZE_BYTES + bytes.length)
    record.writeUInt16BE(bytes.length)
    bytes.copy(record, SIZE_BYTES)
    return record
  },
  known: (fingerprint) => recordOf(fingerprint).toString('hex'),
  read(bytes) {
    const fingerprints: string[] = []
    let at = 0
    while (at + SIZE_BYTES <= bytes.length) {
      const end = at + SIZE_BYTES + sizeAt(bytes, at)
      if (end > bytes.length) break
      fingerprints.push(bytes.toString('hex', at + SIZE_BYTES, end))
      at = end
    }
    return { fingerprints, bytes: at }
  },
  checkTorn(bytes) {
    if (bytes.length >= SIZE_BYTES) sizeAt(bytes, 0)
    else if (bytes.length > 0 && formOf(bytes[0]!) !== BINARY) throw new NoSuchForm(0)
  },
}

/** One that is not hex, or too long, is a user's own, which Scrapy does not make: its text or its SHA-1 stands for it. */
function recordOf(fingerprint: string): Buffer {
  const bytes = HEX.test(fingerprint) ? Buffer.from(fingerprint, 'hex') : Buffer.from(fingerprint)
  return bytes.length <= RECORD_BYTES_MAX ? bytes : hash('sha1', fingerprint, 'buffer')
}

function sizeAt(bytes: Buffer, at: number): number {
  const size = bytes.readUInt16BE(at)
  if (size === 0 || size > RECORD_BYTES_MAX) throw new NoSuchForm(at)
  return size
}

function checkText(bytes: Buffer): void {
  const at = bytes.findIndex((byte) => byte < SPACE && byte !== LF && byte !== 0x0d && byte !== 0x09)
  if (at >= 0) throw new NoSuchForm(at)
}
