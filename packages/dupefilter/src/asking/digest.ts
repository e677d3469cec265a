import { hash } from 'node:crypto'

const SHA1_HEX = /^[0-9a-f]{40}$/

/**
 * Returns a request's digest: 40 hex digits whose bits are as good as random.
 *
 * @param isSha1 whether every fingerprint of the filter is a SHA-1; else it is that of each, also where it looks like one
 */
export function digestOf(fingerprint: string, isSha1: boolean): string {
  return isSha1 && SHA1_HEX.test(fingerprint) ? fingerprint : hash('sha1', fingerprint)
}
