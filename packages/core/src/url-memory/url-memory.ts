import { plainRoot, type UrlRules } from '@webloom/url'
import type { KnownUrl } from '../requests/known-url.ts'
import { knownUrlOf, type Request, requestTo, shareKnownUrl } from '../requests/request.ts'
import type { RequestInit } from '../requests/request-parts.ts'
import { safeUrlFor } from '../requests/request-url.ts'
import { KnownLinks } from './known-links.ts'
import { KnownUrls } from './known-urls.ts'

/**
 * What one crawl knows of the URLs and links that it met last: requests to one URL share its safe form and fingerprints.
 * The crawl's assembly makes it and gives it to responses and to whoever takes requests from callbacks. Without one every
 * request is made from the text of its URL, with the same result.
 *
 * It takes 10 MB with URLs of 80 characters, and can take no more than 30 for each set of rules; a crawl goes by one.
 */
export class UrlMemory {
  readonly #met: Readonly<Record<UrlRules, MetUrls>> = {
    'w3lib-2.4': new MetUrls('w3lib-2.4'),
    'w3lib-2.5': new MetUrls('w3lib-2.5'),
  }

  /**
   * For the links of one page in UTF-8: makes the request for a link, or returns undefined for one that has to be joined
   * first. Undefined itself when that goes for all of its links.
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

  /** A request for an absolute URL of a page in UTF-8. Throws `InvalidUrl`. */
  requestFor(url: string, init: RequestInit, rules: UrlRules): Request {
    return requestTo(this.#met[rules].of(url), init)
  }

  /** Has a request that an author made share what is known of its URL. */
  share(request: Request): void {
    const known = knownUrlOf(request)
    // In other encodings the same text is another URL; what comes from a queue has no rules yet.
    if (known?.rules === undefined || known.isKept || request.encoding !== 'utf-8') return
    shareKnownUrl(request, this.#met[known.rules].of(known.written))
  }
}

/** Those of one set of rules. */
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
