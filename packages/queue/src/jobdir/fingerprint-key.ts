/** How fingerprints stand in the file: a SHA-1 as 20 bytes instead of 40 letters; a user's own fingerprint as its text. */

const SHA1_HEX = /^[0-9a-f]{40}$/

export type FingerprintKey = Uint8Array | string

export function keyOf(fingerprint: string): FingerprintKey {
  return SHA1_HEX.test(fingerprint) ? Buffer.from(fingerprint, 'hex') : fingerprint
}

export function fingerprintOf(key: FingerprintKey): string {
  return typeof key === 'string' ? key : Buffer.from(key).toString('hex')
}
