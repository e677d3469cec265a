/**
 * The fingerprints met last, in 20 bytes each. A Set of texts takes 100, which the collector of old objects visits one by one.
 *
 * A fingerprint lies in one of eight slots that its bits name. There a new one stands first, and the last one makes room for it;
 * one that is met again in the rear half comes to the front. So those that are met again and again stay. The slots become twice as many when
 * half of them are used, up to a bound.
 *
 * Of a fingerprint of 40 digits in hex all bits are there. Of any other text, which a fingerprinter of somebody's own may make, its
 * SHA-1 is. So none is taken for another.
 */

import { hash } from 'node:crypto'

const WAYS = 8
const WORDS = 5
const DIGITS = WORDS * 8
const FULL = 1 / 2
const GROUPS_AT_FIRST_MAX = 128

/** The value of each digit in hex, by its code; of all else -1. Capitals make another fingerprint. */
const DIGIT_VALUES = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code)),
)

/** The fingerprint that is looked for. */
const sought = new Uint32Array(WORDS)

export class FingerprintSet {
  readonly #groupsMax: number
  #words!: Uint32Array
  /** How many slots are used, of each group of eight. */
  #used!: Uint8Array
  #size = 0

  /** @param sizeMax for how many there is room, 1 or more. Groups fill unevenly, so that some of the last `sizeMax` are forgotten */
  constructor(sizeMax: number) {
    this.#groupsMax = Math.ceil(sizeMax / WAYS)
    this.clear()
  }

  get size(): number {
    return this.#size
  }

  has(fingerprint: string): boolean {
    seek(fingerprint)
    const group = this.#group()
    const [first, slot] = [group * WAYS, this.#slotIn(group)]
    if (slot === first + this.#used[group]!) return false
    if (slot - first >= WAYS / 2) this.#toFront(first, slot)
    return true
  }

  add(fingerprint: string): void {
    seek(fingerprint)
    this.#add()
    const groups = this.#used.length
    if (groups < this.#groupsMax && this.#size > groups * WAYS * FULL) this.#grow()
  }

  clear(): void {
    let groups = this.#groupsMax
    while (groups > GROUPS_AT_FIRST_MAX) groups = Math.ceil(groups / 2)
    this.#make(groups)
  }

  #make(groups: number): void {
    this.#words = new Uint32Array(groups * WAYS * WORDS)
    this.#used = new Uint8Array(groups)
    this.#size = 0
  }

  #add(): void {
    const group = this.#group()
    const [first, slot, used] = [group * WAYS, this.#slotIn(group), this.#used[group]!]
    if (slot === first + used && used < WAYS) {
      this.#used[group]!++
      this.#size++
    }
    this.#toFront(first, Math.min(slot, first + WAYS - 1))
  }

  /** All bits count, as those of a fingerprint of somebody's own may be alike but for a few. */
  #group(): number {
    const bits = sought[0]! ^ sought[1]! ^ sought[2]! ^ sought[3]! ^ sought[4]!
    return (bits >>> 0) % this.#used.length
  }

  /** Returns the slot of the group that has the fingerprint, or the one after those that are used. */
  #slotIn(group: number): number {
    let slot = group * WAYS
    const end = slot + this.#used[group]!
    while (slot < end && !this.#isAt(slot)) slot++
    return slot
  }

  #isAt(slot: number): boolean {
    const words = this.#words
    for (let word = 0; word < WORDS; word++) if (words[slot * WORDS + word] !== sought[word]) return false
    return true
  }

  /** The fingerprint comes first in its group; those before the slot move one on, over what was in it. */
  #toFront(first: number, slot: number): void {
    const words = this.#words
    const [start, from] = [first * WORDS, slot * WORDS]
    // Of so few words a loop is three times as fast as copyWithin() and set().
    for (let at = from + WORDS - 1; at >= start + WORDS; at--) words[at] = words[at - WORDS]!
    for (let word = 0; word < WORDS; word++) words[start + word] = sought[word]!
  }

  #grow(): void {
    const [words, used] = [this.#words, this.#used]
    this.#make(Math.min(this.#groupsMax, used.length * 2))
    for (let group = 0; group < used.length; group++)
      // From the last on, so that the first is first again.
      for (let slot = group * WAYS + used[group]! - 1; slot >= group * WAYS; slot--) {
        sought.set(words.subarray(slot * WORDS, (slot + 1) * WORDS))
        this.#add()
      }
  }
}

/** Makes the fingerprint the one that is looked for. */
function seek(fingerprint: string): void {
  if (!read(fingerprint)) read(hash('sha1', fingerprint))
}

/** Returns false when the text is not 40 digits in hex. */
function read(text: string): boolean {
  if (text.length !== DIGITS) return false
  let signs = 0
  for (let word = 0; word < WORDS; word++) {
    let bits = 0
    for (let at = word * 8; at < word * 8 + 8; at++) {
      const value = DIGIT_VALUES[text.charCodeAt(at)] ?? -1
      signs |= value
      bits = (bits << 4) | value
    }
    sought[word] = bits
  }
  return signs >= 0
}
