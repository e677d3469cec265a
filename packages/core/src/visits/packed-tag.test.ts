import { createHash } from 'node:crypto'
import { IN_FULL } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { packTag, unpackTag } from './packed-tag.ts'

const DATE = 1_764_201_600
const HEX = DATE.toString(16)
const sha = (name: string, encoding: 'hex' | 'base64', of = 'page') =>
  createHash(name).update(of).digest(encoding)

/** As many bytes as the tag takes; it comes out as it went in. */
function bytesOf(etag: string, date = DATE): number {
  const packed = packTag(etag, date)!
  expect(unpackTag(packed, date)).toBe(etag)
  return packed.length
}

describe('a tag beside the date of its page takes few bytes', () => {
  test.each([
    ['nginx', `"${HEX}-4d2"`, 3],
    ['nginx, compressed', `W/"${HEX}-4d2"`, 3],
    ['nginx, of an empty page', `"${HEX}-0"`, 1],
    ['Apache', `"4d2-${(DATE * 1e6 + 123_456).toString(16)}"`, 6],
    ['Apache, compressed', `"4d2-${(DATE * 1e6).toString(16)}-gzip"`, 6],
    ['Jetty’s end', `W/"4d2-${(DATE * 1e6).toString(16)}--gzip"`, 6],
    ['files served by Node.js', `W/"4d2-${(DATE * 1000 + 999).toString(16)}"`, 5],
    ['Express', `W/"4d2-${sha('sha1', 'base64').slice(0, 27)}"`, 23],
    ['MD5', `"${sha('md5', 'hex')}"`, 17],
    ['MD5 of Azure, in base64', `"${sha('md5', 'base64')}"`, 18],
    ['SHA-256', `W/"${sha('sha256', 'hex')}"`, 33],
    ['IIS', '"8ded2f9c4a3fda1:0"', 9],
    ['ASP.NET Core', '"1dc5f1a2b3c4d5e"', 9],
    ['digits', '"0012345678901234567890"', 11],
    ['a key of 64 letters', '"k-3_Zq9"', 7],
    ['any text', '"a!b"', 4],
    ['nothing', '""', 1],
  ])('%s', (_, etag, bytes) => {
    expect(bytesOf(etag)).toBe(bytes)
  })

  test('of another second than the date, or without one, it takes some bytes more', () => {
    expect(bytesOf(`"${HEX}-4d2"`, DATE + 1)).toBe(8)
    expect(bytesOf(`"4d2-${(DATE * 1e6).toString(16)}"`, Number.NaN)).toBe(11)
  })
})

test('any tag comes out as it went in', () => {
  let state = 20_261_127
  const below = (max: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * max)
  }
  const pick = <T>(of: readonly T[]): T => of[below(of.length)]!
  const pieces = [
    () => below(2 ** 31).toString(16),
    () => (DATE + below(3) - 1).toString(16),
    () => (DATE * 1000 + below(2000) - 500).toString(16),
    () => (DATE * 1e6 + below(2_000_000) - 500_000).toString(16),
    () => `0${below(300)}`,
    () => sha('md5', 'hex', `${below(9)}`),
    () => sha('sha1', 'hex', `${below(9)}`).toUpperCase(),
    () => sha('sha1', 'base64', `${below(9)}`).slice(0, 25 + below(4)),
    () => sha('md5', 'base64', `${below(9)}`),
    // The last of 27 letters of base64 that are no beginning of a hash, and that base64 does not keep.
    () => `${'A'.repeat(26)}${pick(['A', 'B', 'C', 'z', '/'])}`,
    () => String.fromCharCode(...Array.from({ length: below(12) }, () => 0x23 + below(0x5c))),
    () => pick(['', '-', '--', '=', '==', ':0', '-gzip', '--gzip', '-br', '0', 'ü', ' ', '"']),
  ]
  for (let n = 0; n < (IN_FULL ? 8_000 : 1_500); n++) {
    const text = Array.from({ length: 1 + below(4) }, () => pick(pieces)()).join(pick(['-', '', ':']))
    bytesOf(`${pick(['', 'W/'])}"${text}"`, pick([DATE, 0, 4_294_967_295, Number.NaN]))
  }
})

test('what is no tag is not kept', () => {
  for (const text of ['', 'a', '"', 'w/"a"', '"a" ', 'W/a']) expect(packTag(text, DATE)).toBeUndefined()
})
