/** How long a generation that Redis told is trusted: a filter cleared by somebody else is noticed after that. */
const TRUST_MS = 1000

/**
 * Fingerprints of which nobody will be told "new" any more, the last ones met.
 *
 * Only an answer that cannot change may be in here. What an unsettled owner holds may become new for somebody else, and
 * what a settled one still holds is new for its owner; both are asked again. A request may be met again after `clear` or
 * `forget`: both change the filter's generation, which comes with each answer and empties this cache.
 */
export class SeenCache {
  readonly #size: number
  readonly #fingerprints = new Set<string>()
  #generation: string | undefined
  #toldAt = Number.NEGATIVE_INFINITY

  constructor(size: number) {
    this.#size = size
  }

  /** False for everything while the generation has not been heard of for a while. */
  has(fingerprint: string): boolean {
    if (!this.#fingerprints.has(fingerprint)) return false
    if (performance.now() - this.#toldAt > TRUST_MS) return false
    this.#fingerprints.delete(fingerprint)
    this.#fingerprints.add(fingerprint)
    return true
  }

  /**
   * What Redis said with an answer. Called before `add` for the fingerprints of that answer.
   * True when the filter was cleared meanwhile, or a request taken out of it, and what was in here is forgotten.
   */
  heardOf(generation: string, askedAt: number): boolean {
    this.#toldAt = Math.max(this.#toldAt, askedAt)
    if (generation === this.#generation) return false
    const hadSome = this.#fingerprints.size > 0
    this.#fingerprints.clear()
    this.#generation = generation
    return hadSome
  }

  add(fingerprint: string): void {
    if (this.#size === 0) return
    this.#fingerprints.delete(fingerprint)
    if (this.#fingerprints.size >= this.#size) {
      for (const oldest of this.#fingerprints) {
        this.#fingerprints.delete(oldest)
        break
      }
    }
    this.#fingerprints.add(fingerprint)
  }

  clear(): void {
    this.#fingerprints.clear()
    this.#generation = undefined
  }
}
