import { isPlainRooted, ownCopy } from '@webloom/url'
import type { KnownUrl } from '../requests/known-url.ts'

/**
 * Where links such as `/about` lead on the pages of one host. Most of a site's links are on many of its pages, and one
 * look-up here is quicker than joining the link and then looking the whole URL up.
 */
export class KnownLinks {
  readonly #make: (url: string) => KnownUrl
  readonly #byRoot = new Map<string, Map<string, KnownUrl>>()
  #count = 0

  /** @param make makes the KnownUrl of a whole URL; its errors are passed on */
  constructor(make: (url: string) => KnownUrl) {
    this.#make = make
  }

  /**
   * For the links of one page: returns a function that returns where a link leads, or undefined for a link that has to be
   * joined.
   *
   * @param root the page's `plainRoot`
   */
  from(root: string): (link: string) => KnownUrl | undefined {
    const links = this.#byRoot.get(root)
    return (link) => (links ?? this.#byRoot.get(root))?.get(link) ?? this.#learn(root, link)
  }

  #learn(root: string, link: string): KnownUrl | undefined {
    if (!isPlainRooted(link)) return undefined
    const known = this.#make(root + link)
    if (link.length <= CHARACTERS_MAX) {
      this.#makeRoom()
      this.#ofRoot(root).set(ownCopy(link), known)
    }
    return known
  }

  /** A host of which no link is known has no map: a crawl meets many that link to other hosts alone. */
  #ofRoot(root: string): Map<string, KnownUrl> {
    const known = this.#byRoot.get(root)
    if (known) return known
    this.#makeRoom()
    const links = new Map<string, KnownUrl>()
    this.#byRoot.set(root, links)
    return links
  }

  /** Makes room for one more host or link. */
  #makeRoom(): void {
    if (++this.#count <= KEPT_MAX) return
    for (const links of this.#byRoot.values()) links.clear()
    this.#byRoot.clear()
    this.#count = 1
  }
}

// Hosts, and the links of all of them together. Past it everything is forgotten.
const KEPT_MAX = 32_768
const CHARACTERS_MAX = 256
