import { plainRoot, type UrlRules } from '@webloom/url'
import type { KnownUrl } from '../requests/known-url.ts'
import { knownUrlOf, type Request, requestTo, shareKnownUrl } from '../requests/request.ts'
import type { RequestInit } from '../requests/request-parts.ts'
import { safeUrlFor } from '../requests/request-url.ts'
import { KnownLinks } from './known-links.ts'
import { KnownUrls } from './known-urls.ts'

/**
 * What one crawl knows of the URLs and links that it met last: requests to one URL share its safe form and fingerprints.
 * The crawl's assembly makes it, and passes it to responses and to the code that takes requests from callbacks. Without it
 * every request is made from the text of its URL, with the same result.
 *
 * It takes 10 MB with URLs of 80 characters, and at most 30 MB for each set of rules; a crawl uses one set.
 */
export class UrlMemory {
  readonly #met: Readonly<Record<UrlRules, MetUrls>> = {
    'w3lib-2.4': new MetUrls('w3lib-2.4'),
    'w3lib-2.5': new MetUrls('w3lib-2.5'),
  }

  /**
   * For the links of one page in UTF-8: returns a function that makes the request for a link, or returns undefined for a
   * link that has to be joined first. Undefined when all links of the page have to be.
   *
   * @param base what the page's links are relative to
   */
  requestsFrom(
    base: string,
    rules: UrlRules,
  ): ((link: string, init: RequestInit) => Request | undefined) | undefined {
    const root = plainRoot(base)
    if (root === undefined) return undefined
    const known = this.#met[rules].links.from(root)
    return (link, init) => {
      const url = known(link)
      return url && requestTo(url, init)
    }
  }

  /** Returns a request for an absolute URL of a page in UTF-8. Throws `InvalidUrl`. */
  requestFor(url: string, init: RequestInit, rules: UrlRules): Request {
    return requestTo(this.#met[rules].of(url), init)
  }

  /** Makes an author's request share what is known of its URL. */
  share(request: Request): void {
    const known = knownUrlOf(request)
    // In another encoding the same text is another URL; a URL from a queue has no rules yet.
    if (known?.rules === undefined || known.isKept || request.encoding !== 'utf-8') return
    shareKnownUrl(request, this.#met[known.rules].of(known.written))
  }
}

/** The URLs of one set of rules. */
class MetUrls {
  readonly #urls: KnownUrls
  readonly links: KnownLinks
  readonly #make: (written: string) => string

  constructor(rules: UrlRules) {
    this.#urls = new KnownUrls(rules)
    this.#make = (written) => safeUrlFor(written, 'utf-8', rules)
    this.links = new KnownLinks((url) => this.of(url))
  }

  of(written: string): KnownUrl {
    return this.#urls.of(written, this.#make)
  }
}
