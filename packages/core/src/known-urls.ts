/**
 * What the URLs met last became: their safe form and their fingerprints. A site's pages link to the same pages again and
 * again, and finding a URL here costs a tenth of making it safe, making it canonical and hashing it.
 *
 * There are two generations. What the older one holds and is asked for again goes over into the younger one; when that is
 * full, the older one is forgotten. So what was met of late stays, and no order has to be kept.
 */

import { ownCopy } from './own-copy.ts'
import { NEWEST_URL_RULES, type UrlRules } from './url/url-rules.ts'

/** A URL as requests have it, and what fingerprinters have made of it. All requests to it share this. */
export class KnownUrl {
  readonly url: string
  /** By which it was made safe; undefined for one that comes from a queue, where it was made so before. */
  readonly rules: UrlRules | undefined
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

  isMarkedBy(by: object): boolean {
    return this.#markedBy === by
  }
}

export class KnownUrls {
  readonly #rules: UrlRules
  #younger = new Map<string, KnownUrl>()
  #older = new Map<string, KnownUrl>()

  /** @param rules by which `make` of all of them makes URLs safe */
  constructor(rules: UrlRules = NEWEST_URL_RULES) {
    this.#rules = rules
  }

  /**
   * @param written the URL as somebody wrote it; may be a part of a page's text, which is not kept alive
   * @param make its safe form, in memory of its own; what it throws is thrown
   */
  of(written: string, make: (written: string) => string): KnownUrl {
    const known = this.#younger.get(written)
    if (known) return known
    const older = this.#older.get(written)
    if (older) return this.#keep(older.url === written ? older.url : ownCopy(written), older)
    const url = make(written)
    const own = url === written ? url : ownCopy(written)
    const made = new KnownUrl(url, this.#rules, own)
    return Math.max(written.length, url.length) > URL_CHARACTERS_MAX ? made : this.#keep(own, made)
  }

  #keep(written: string, known: KnownUrl): KnownUrl {
    if (this.#younger.size >= GENERATION) {
      this.#older = this.#younger
      this.#younger = new Map()
    }
    this.#younger.set(written, known)
    return known
  }
}

// Both generations together take 10 MB with URLs of 80 characters, and can take no more than 30.
const GENERATION = 16_384
const URL_CHARACTERS_MAX = 256
