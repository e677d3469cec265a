import type { UrlRules } from '@webloom/url'

/**
 * A URL as requests have it, and what fingerprinters have made of it. Requests to one URL share it as long as the crawl's
 * `UrlMemory` knows the URL.
 */
export class KnownUrl {
  /** The URL in its safe form. */
  readonly url: string
  /** The rules by which it was made safe; undefined for a URL from a queue, which was made safe before. */
  readonly rules: UrlRules | undefined
  /** True for a URL that a memory has kept, so that it need not be looked up there. */
  isKept = false
  /** The URL as written, where its safe form differs. Other rules begin with it. */
  readonly #written: string | undefined
  // On Redis a crawl has two fingerprinters, the scheduler's and the filter's, which ask alternately.
  #by: object | undefined
  #fingerprint = ''
  #otherBy: object | undefined
  #otherFingerprint = ''
  #markedBy: object | undefined

  constructor(url: string, rules?: UrlRules, written = url) {
    this.url = url
    this.rules = rules
    this.#written = written === url ? undefined : written
  }

  /** The URL as it was written. */
  get written(): string {
    return this.#written ?? this.url
  }

  /** Returns what `make` returned when it was first called for `by`. */
  fingerprint(by: object, make: () => string): string {
    if (this.#by === by) return this.#fingerprint
    if (this.#otherBy === by) return this.#otherFingerprint
    const made = make()
    this.#otherBy = this.#by
    this.#otherFingerprint = this.#fingerprint
    this.#by = by
    this.#fingerprint = made
    return made
  }

  /** Sets the mark of `by`. There is one mark, of the last caller. */
  mark(by: object): void {
    this.#markedBy = by
  }

  /** Who marked it last; undefined: nobody. */
  get markedBy(): object | undefined {
    return this.#markedBy
  }

  /** Returns whether `by` was the last to mark it. */
  isMarkedBy(by: object): boolean {
    return this.#markedBy === by
  }
}
