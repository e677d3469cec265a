/**
 * The digests met last, as a set-associative cache: in 20 bytes each, of which garbage collection need not scan any. A Set of texts takes 100.
 *
 * A digest's first bits say in which of the groups of eight it may be. There a new one comes first, and the last one makes room for it; one that is met
 * again in the rear half comes first, too. So those that are met again and again stay.
 */

const WAYS = 8
const WORDS = 5

export class RecentDigests {
  readonly #groups: number
  readonly #words: Uint32Array
  /** How many there are in each group. */
  readonly #counts: Uint8Array
  /** The digest that is asked about. */
  readonly #digest = new Uint32Array(WORDS)
  #size = 0

  /** @param max how many there is room for, 1 or more. Groups fill unevenly, so that some of the last `max` are forgotten */
  constructor(max: number) {
    this.#groups = Math.ceil(max / WAYS)
    // The system gives memory to what is written, so that a small crawl takes less.
    this.#words = new Uint32Array(this.#groups * WAYS * WORDS)
    this.#counts = new Uint8Array(this.#groups)
  }

  get size(): number {
    return this.#size
  }

  /** @param digest 40 hex digits whose bits are as good as random, as `digestOf` makes them */
  has(digest: string): boolean {
    const group = this.#read(digest)
    const at = this.#find(group)
    if (at === this.#counts[group]) return false
    if (at >= WAYS / 2) this.#moveToFront(group, at)
    return true
  }

  /** @param digest as for `has` */
  add(digest: string): void {
    const group = this.#read(digest)
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

  /** Makes it the digest that is asked about. Returns its group. */
  #read(digest: string): number {
    for (let word = 0; word < WORDS; word++) this.#digest[word] = wordOf(digest, word * 8)
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
    for (let word = 0; word < WORDS; word++)
      if (this.#words[entry * WORDS + word] !== this.#digest[word]) return false
    return true
  }

  /** It comes first in its group; those before that place move one on, over what was there. */
  #moveToFront(group: number, place: number): void {
    const words = this.#words
    const front = group * WAYS * WORDS
    // Of so few words a loop is three times as fast as copyWithin() and set().
    for (let at = front + place * WORDS - 1; at >= front; at--) words[at + WORDS] = words[at]!
    for (let word = 0; word < WORDS; word++) words[front + word] = this.#digest[word]!
  }
}

/** Returns eight hex digits as a number. */
function wordOf(digest: string, from: number): number {
  let word = 0
  for (let at = from; at < from + 8; at++) {
    const code = digest.charCodeAt(at)
    // '0' is 48, 'a' is 97. Without a branch, as a processor cannot foresee which of them comes.
    word = (word << 4) | ((code & 15) + 9 * (code >> 6))
  }
  return word
}
