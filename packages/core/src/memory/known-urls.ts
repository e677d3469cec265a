/**
 * The URLs that a crawl met last, with their safe form and fingerprints. A site's pages link to the same pages again and
 * again, and finding a URL here costs a tenth of making it safe, making it canonical and hashing it.
 *
 * There are two generations. A URL of the older one that is asked for again moves to the younger one; when that is full,
 * the older one is forgotten. So recent URLs stay, and no order has to be kept.
 */

import { NEWEST_URL_RULES, ownCopy, type UrlRules } from '@webloom/url'
import { KnownUrl } from '../requests/known-url.ts'

export class KnownUrls {
  readonly #rules: UrlRules
  #younger = new Map<string, KnownUrl>()
  #older = new Map<string, KnownUrl>()

  /** @param rules the rules by which every `make` makes URLs safe */
  constructor(rules: UrlRules = NEWEST_URL_RULES) {
    this.#rules = rules
  }

  /**
   * @param written the URL as it was written; may be a part of a page's text, which is not kept in memory
   * @param make returns its safe form, in memory of its own; its errors are passed on
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
    known.isKept = true
    this.#younger.set(written, known)
    return known
  }
}

// Both generations together take 10 MB with URLs of 80 characters, and can take no more than 30.
const GENERATION = 16_384
const URL_CHARACTERS_MAX = 256
