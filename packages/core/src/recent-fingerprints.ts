/**
 * Fingerprints by the text of a URL, of those asked for last: a site's pages link to the same pages again and again, and
 * finding a fingerprint here costs a tenth of making it.
 *
 * There are two generations. What the older one holds and is asked for again goes over into the younger one; when that is
 * full, the older one is forgotten. So what was met of late stays, and no order has to be kept.
 */
export class RecentFingerprints {
  #younger = new Map<string, string>()
  #older = new Map<string, string>()

  /** The fingerprint of requests to `url`, by `make` when it is not known any more. */
  of(url: string, make: () => string): string {
    if (url.length > URL_CHARACTERS_MAX) return make()
    const known = this.#younger.get(url)
    if (known !== undefined) return known
    const fingerprint = this.#older.get(url) ?? make()
    if (this.#younger.size >= GENERATION) this.#ageing()
    this.#younger.set(url, fingerprint)
    return fingerprint
  }

  #ageing(): void {
    this.#older = this.#younger
    this.#younger = new Map()
  }
}

// Both generations together take 6 MB with URLs of 80 characters, and can take no more than 12.
const GENERATION = 16_384
const URL_CHARACTERS_MAX = 256
