import { hash } from 'node:crypto'

const SHA1_HEX = /^[0-9a-f]{40}$/
const DIGITS = 40
const DIGITS_OF_WORD = 8

/** How many words of 32 bits a digest has. */
export const DIGEST_WORDS = DIGITS / DIGITS_OF_WORD

const NO_DIGIT = 16
/** What each hex digit is worth, by its code; `NO_DIGIT` for all others. */
const VALUES = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = '0123456789abcdef'.indexOf(String.fromCharCode(code))
  return value < 0 ? NO_DIGIT : value
})

/**
 * Returns a request's digest: 40 hex digits whose bits are as good as random.
 *
 * @param isSha1 whether every fingerprint of the filter is a SHA-1; else it is that of each, also where it looks like one
 */
export function digestOf(fingerprint: string, isSha1: boolean): string {
  return isSha1 && SHA1_HEX.test(fingerprint) ? fingerprint : hash('sha1', fingerprint)
}

/**
 * Writes `digestOf(fingerprint, isSha1)` to `words`, as numbers of 32 bits. It checks the digits while it reads them, which takes a third of the time: each
 * link of a page comes by here.
 *
 * @param isSha1 as for `digestOf`
 * @param words `DIGEST_WORDS` long
 */
export function readDigest(fingerprint: string, isSha1: boolean, words: Uint32Array): void {
  if (!isSha1 || !readHex(fingerprint, words)) readHex(hash('sha1', fingerprint), words)
}

/** Returns false when the text is not 40 hex digits; `words` then holds garbage. */
function readHex(text: string, words: Uint32Array): boolean {
  if (text.length !== DIGITS) return false
  let allBits = 0
  for (let n = 0; n < DIGEST_WORDS; n++) {
    let word = 0
    for (let at = n * DIGITS_OF_WORD; at < (n + 1) * DIGITS_OF_WORD; at++) {
      const code = text.charCodeAt(at)
      // What is beyond ASCII stays beyond a digit's worth.
      const value = VALUES[code % VALUES.length]! | (code - (code % VALUES.length))
      allBits |= value
      word = (word << 4) | value
    }
    words[n] = word
  }
  return allBits < NO_DIGIT
}
