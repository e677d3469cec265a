import type { UrlRules } from '@webloom/url'

/**
 * A URL as requests have it, and what fingerprinters have made of it. Requests to one URL share it as long as the crawl's
 * `UrlMemory` knows the URL.
 */
export class KnownUrl {
  /** In its safe form. */
  readonly url: string
  /** By which it was made safe; undefined for one that comes from a queue, where it was made so before. */
  readonly rules: UrlRules | undefined
  /** True for one that a memory has kept: whoever has it need not look for it there. */
  isKept = false
  /** As it was written, where its safe form is another; other rules begin here. */
  readonly #written: string | undefined
  // On Redis a crawl has two fingerprinters, of the scheduler and of the filter, which ask in turn.
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

  /** As somebody wrote it. */
  get written(): string {
    return this.#written ?? this.url
  }

  /** What `make` gave when it was first asked on behalf of `by`. */
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

  /** One mark, of whoever marked it last. */
  mark(by: object): void {
    this.#markedBy = by
  }

  /** Whether `by` was the last to mark it. */
  isMarkedBy(by: object): boolean {
    return this.#markedBy === by
  }
}
