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
 * Writes `digestOf` of a fingerprint as numbers. It is read once: to match it first takes 260 ns of a link's 360, as most of its digits
 * are a branch that a processor foresees wrongly.
 *
 * @param words gets it; `DIGEST_WORDS` long
 */
export function readDigest(fingerprint: string, isSha1: boolean, words: Uint32Array): void {
  if (!isSha1 || !readHex(fingerprint, words)) readHex(hash('sha1', fingerprint), words)
}

/** Returns false when the text is not 40 digits; then words mean nothing. */
function readHex(text: string, words: Uint32Array): boolean {
  if (text.length !== DIGITS) return false
  let all = 0
  for (let n = 0; n < DIGEST_WORDS; n++) {
    let word = 0
    for (let at = n * DIGITS_OF_WORD; at < (n + 1) * DIGITS_OF_WORD; at++) {
      const code = text.charCodeAt(at)
      // What is beyond ASCII stays beyond a digit's worth.
      const value = VALUES[code % VALUES.length]! | (code - (code % VALUES.length))
      all |= value
      word = (word << 4) | value
    }
    words[n] = word
  }
  return all < NO_DIGIT
}
