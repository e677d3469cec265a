import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { DIGEST_WORDS, digestOf, readDigest } from './digest.ts'

function wordsOf(fingerprint: string, isSha1: boolean): number[] {
  const words = new Uint32Array(DIGEST_WORDS)
  readDigest(fingerprint, isSha1, words)
  return [...words]
}

const inWords = (digest: string) => digest.match(/.{8}/g)!.map((digits) => Number.parseInt(digits, 16))

// One that is taken for another is never crawled.
test('read as numbers it is the digest, of whatever text', () => {
  const sha1 = hash('sha1', 'a')
  const texts = [sha1, '', 'a', sha1.slice(1), `${sha1}0`, sha1.toUpperCase(), '0'.repeat(40), 'f'.repeat(40)]
  // The characters beside the digits, and those that differ from a digit in bits beyond ASCII.
  for (const other of ['/', ':', '@', 'g', '`', 'A', ' ', '\x7f', '\x80', '\xb0', '\xe1', 'İ', 'š', '\ud830'])
    for (let at = 0; at < sha1.length; at++) texts.push(`${sha1.slice(0, at)}${other}${sha1.slice(at + 1)}`)
  for (const text of texts)
    for (const isSha1 of [true, false])
      expect(wordsOf(text, isSha1), `${isSha1} ${text}`).toEqual(inWords(digestOf(text, isSha1)))
})
