/** How long a generation that Redis told is trusted: a filter cleared by somebody else is noticed after that. */
const TRUST_MS = 1000

/**
 * Fingerprints of which nobody will be told "new" any more, the last ones met.
 *
 * Only an answer that cannot change may be in here. What an unsettled owner holds may become new for somebody else, and
 * what a settled one still holds is new for its owner; both are asked again. A request may be met again after `clear` or
 * `forget`: both change the filter's generation, which comes with each answer and empties this cache.
 *
 * They are in two halves. What the older one has and is met again goes over into the younger one; when that is full, the
 * older one is forgotten. To move each to the end of one set whenever it is met would cost three times as much.
 */
export class SeenCache {
  readonly #halfSize: number
  #younger = new Set<string>()
  #older = new Set<string>()
  #generation: string | undefined
  #toldAt = Number.NEGATIVE_INFINITY

  constructor(size: number) {
    this.#halfSize = Math.ceil(size / 2)
  }

  /** False for everything while the generation has not been heard of for a while. */
  has(fingerprint: string): boolean {
    const isYoung = this.#younger.has(fingerprint)
    if (!isYoung && !this.#older.has(fingerprint)) return false
    if (performance.now() - this.#toldAt > TRUST_MS) return false
    if (!isYoung) this.add(fingerprint)
    return true
  }

  /**
   * What Redis said with an answer. Called before `add` for the fingerprints of that answer.
   * True when the filter was cleared meanwhile, or a request taken out of it, and what was in here is forgotten.
   */
  heardOf(generation: string, askedAt: number): boolean {
    this.#toldAt = Math.max(this.#toldAt, askedAt)
    if (generation === this.#generation) return false
    const hadSome = this.#younger.size + this.#older.size > 0
    this.clear()
    this.#generation = generation
    return hadSome
  }

  add(fingerprint: string): void {
    if (this.#halfSize === 0) return
    if (this.#younger.size >= this.#halfSize) {
      this.#older = this.#younger
      this.#younger = new Set()
    }
    this.#younger.add(fingerprint)
  }

  clear(): void {
    this.#younger.clear()
    this.#older.clear()
    this.#generation = undefined
  }
}
