import { isPlainRooted, ownCopy } from '@webloom/url'
import type { KnownUrl } from '../requests/known-url.ts'

/**
 * What links such as `/about` lead to on the pages of one host. Most of a site's links are on many of its pages, and one
 * look here is quicker than joining and then looking for the whole URL.
 */
export class KnownLinks {
  readonly #make: (url: string) => KnownUrl
  readonly #byRoot = new Map<string, Map<string, KnownUrl>>()
  #count = 0

  /** @param make what a whole URL becomes; what it throws is thrown */
  constructor(make: (url: string) => KnownUrl) {
    this.#make = make
  }

  /**
   * Of one page: what a link is known to lead to, or comes to be; undefined when it has to be joined.
   *
   * @param root the page's `plainRoot`
   */
  from(root: string): (link: string) => KnownUrl | undefined {
    const links = this.#byRoot.get(root) ?? this.#newHost(root)
    return (link) => links.get(link) ?? this.#learn(links, root, link)
  }

  #newHost(root: string): Map<string, KnownUrl> {
    this.#makeRoom()
    const links = new Map<string, KnownUrl>()
    this.#byRoot.set(root, links)
    return links
  }

  #learn(links: Map<string, KnownUrl>, root: string, link: string): KnownUrl | undefined {
    if (!isPlainRooted(link)) return undefined
    const known = this.#make(root + link)
    if (link.length <= CHARACTERS_MAX) {
      this.#makeRoom()
      links.set(ownCopy(link), known)
    }
    return known
  }

  /** For one more host or link. */
  #makeRoom(): void {
    if (++this.#count <= KEPT_MAX) return
    for (const links of this.#byRoot.values()) links.clear()
    this.#byRoot.clear()
    this.#count = 1
  }
}

// Hosts, and links of all of them together; then all begin anew.
const KEPT_MAX = 32_768
const CHARACTERS_MAX = 256
