/**
 * The digests of the fingerprints met last, as a set-associative cache: in 20 bytes each, of which garbage collection need not scan any. A Set of texts takes 100.
 *
 * A digest's first bits say in which of the groups of eight it may be. There a new one comes first, and the last one makes room for it; one that is met
 * again in the rear half comes first, too. So those that are met again and again stay.
 */

import { DIGEST_WORDS, readDigest } from './digest.ts'

const WAYS = 8

export class RecentDigests {
  readonly #isSha1: boolean
  readonly #groups: number
  readonly #words: Uint32Array
  /** How many there are in each group. */
  readonly #counts: Uint8Array
  /** The digest that is asked about. */
  readonly #digest = new Uint32Array(DIGEST_WORDS)
  #size = 0

  /**
   * @param max how many there is room for, 1 or more. Groups fill unevenly, so that some of the last `max` are forgotten
   * @param isSha1 as for `digestOf`
   */
  constructor(max: number, isSha1: boolean) {
    this.#isSha1 = isSha1
    this.#groups = Math.ceil(max / WAYS)
    // The system gives memory to what is written, so that a small crawl takes less.
    this.#words = new Uint32Array(this.#groups * WAYS * DIGEST_WORDS)
    this.#counts = new Uint8Array(this.#groups)
  }

  get size(): number {
    return this.#size
  }

  has(fingerprint: string): boolean {
    const group = this.#read(fingerprint)
    const at = this.#find(group)
    if (at === this.#counts[group]) return false
    if (at >= WAYS / 2) this.#moveToFront(group, at)
    return true
  }

  add(fingerprint: string): void {
    const group = this.#read(fingerprint)
    const at = this.#find(group)
    if (at === this.#counts[group] && at < WAYS) {
      this.#counts[group]!++
      this.#size++
    }
    this.#moveToFront(group, Math.min(at, WAYS - 1))
  }

  clear(): void {
    this.#counts.fill(0)
    this.#size = 0
  }

  /** Sets `#digest` to the fingerprint's digest. Returns the group of that digest. */
  #read(fingerprint: string): number {
    readDigest(fingerprint, this.#isSha1, this.#digest)
    return this.#digest[0]! % this.#groups
  }

  /** Returns its place in the group, or the one after the last. */
  #find(group: number): number {
    const count = this.#counts[group]!
    let at = 0
    while (at < count && !this.#isAt(group * WAYS + at)) at++
    return at
  }

  #isAt(entry: number): boolean {
    for (let word = 0; word < DIGEST_WORDS; word++)
      if (this.#words[entry * DIGEST_WORDS + word] !== this.#digest[word]) return false
    return true
  }

  /** It comes first in its group; those before that place move one on, over what was there. */
  #moveToFront(group: number, place: number): void {
    const words = this.#words
    const front = group * WAYS * DIGEST_WORDS
    // Of so few words a loop is three times as fast as copyWithin() and set().
    for (let at = front + place * DIGEST_WORDS - 1; at >= front; at--) words[at + DIGEST_WORDS] = words[at]!
    for (let word = 0; word < DIGEST_WORDS; word++) words[front + word] = this.#digest[word]!
  }
}
