import {
  type Callback,
  decodeText,
  detectEncoding,
  InvalidUrl,
  methodNamed,
  Request,
  type RequestInit,
  urlJoin,
} from '@webloom/core'
import { anyOf, type PatternTest, type UrlPattern } from '@webloom/selectors'
import type { Response } from '../responses/response.ts'
import { responseKind } from '../responses/response-kind.ts'
import { FRAMEWORK_CLASS, Spider } from '../spider.ts'
import { gunzipped, isGzip } from './gunzipped.ts'
import { readSitemap, type Sitemap, type SitemapEntry } from './sitemap.ts'

// The most that a sitemap may have by the protocol (sitemaps.org), uncompressed.
const SITEMAP_BYTES_MAX = 52_428_800

interface ListedUrl {
  readonly url: string
  /** When the page was changed, as its sitemap says. */
  readonly lastmod?: string
}

/** Which pages go to which callback. The callback is the method itself or its name. */
export type SitemapRule = readonly [pattern: UrlPattern, callback: Callback]

/**
 * Crawls the pages that sitemaps list: plain or compressed sitemaps, indexes of them, and those that a robots.txt names.
 *
 * A sitemap is read as one text without a tree, so one of 50 MB takes twice that memory while it is read.
 */
export class SitemapSpider extends Spider {
  static override readonly [FRAMEWORK_CLASS]: true = true
  /** Sitemaps, or robots.txt files that name them. */
  sitemapUrls: string[] = []
  /** The first rule whose pattern is found in a page's URL names its callback. A page that fits no rule is not fetched. */
  sitemapRules: readonly SitemapRule[] = [['', 'parse']]
  /** Which sitemaps of an index are read: those whose URL holds one of these patterns. */
  sitemapFollow: readonly UrlPattern[] = ['']
  /** True: the same page in other languages is crawled, too. */
  sitemapAlternateLinks = false
  #rules: readonly (readonly [PatternTest, Callback])[] | undefined

  override *start(): Generator<Request> {
    for (const url of this.sitemapUrls) yield new Request(url, this.#sitemapInit())
  }

  /** Gets the entries of each sitemap or index, and yields those that are wanted, changed or not. */
  sitemapFilter(entries: Iterable<SitemapEntry>): Iterable<SitemapEntry> | AsyncIterable<SitemapEntry> {
    return entries
  }

  /** The callback of sitemaps and of robots.txt. */
  async *parseSitemap(response: Response): AsyncGenerator<Request> {
    const init = this.#sitemapInit()
    if (response.url.endsWith('/robots.txt')) {
      yield* this.#requests(sitemapsOfRobots(response), () => init)
      return
    }
    const sitemap = await this.#sitemapIn(response)
    if (sitemap?.type === 'sitemapindex') {
      const isFollowed = anyOf(this.sitemapFollow)
      yield* this.#requests(this.#urlsOf(sitemap), ({ url }) => (isFollowed(url) ? init : undefined))
    } else if (sitemap?.type === 'urlset') {
      // A crawl that comes back to its pages goes by their dates; for others they would only weigh.
      const hasDates = this.settings.get('RECRAWL') !== 'off'
      yield* this.#requests(this.#urlsOf(sitemap), ({ url, lastmod }) => {
        const init = this.#pageInit(url)
        return init && hasDates && lastmod !== undefined ? { ...init, meta: { lastmod } } : init
      })
    } else {
      this.logger.warn({ url: response.url }, 'this is not a sitemap; it is skipped')
    }
  }

  async *#urlsOf({ entries }: Sitemap): AsyncGenerator<ListedUrl> {
    for await (const { loc, lastmod, alternate } of this.sitemapFilter(entries)) {
      if (loc) yield { url: loc, ...(lastmod !== undefined && { lastmod }) }
      if (this.sitemapAlternateLinks && alternate) yield* alternate.map((url) => ({ url }))
    }
  }

  async *#requests(
    urls: Iterable<ListedUrl> | AsyncIterable<ListedUrl>,
    initOf: (listed: ListedUrl) => RequestInit | undefined,
  ): AsyncGenerator<Request> {
    for await (const listed of urls) {
      const init = initOf(listed)
      const request = init && this.#request(listed.url, init)
      if (request) yield request
    }
  }

  /** Returns undefined for an invalid address: one bad line of a sitemap must not cost the others. */
  #request(url: string, init: RequestInit): Request | undefined {
    try {
      return new Request(url, init)
    } catch (error) {
      if (!(error instanceof InvalidUrl)) throw error
      this.crawler.stats.inc('sitemap/invalid_url_count')
      this.logger.debug({ url, reason: error.message }, 'an address in a sitemap is left out')
      return undefined
    }
  }

  #sitemapInit(): RequestInit {
    return { callback: 'parseSitemap', meta: { download_maxsize: this.#sitemapBytesMax() } }
  }

  /** Returns the bound for sitemaps, which may be larger than pages. 0: no bound. */
  #sitemapBytesMax(): number {
    const ofPages = this.settings.getInt('DOWNLOAD_MAXSIZE')
    return ofPages === 0 ? 0 : Math.max(ofPages, SITEMAP_BYTES_MAX)
  }

  /** Returns undefined for a page that fits no rule. */
  #pageInit(url: string): RequestInit | undefined {
    this.#rules ??= this.sitemapRules.map(([pattern, callback]) => {
      if (typeof callback === 'string') methodNamed(this, callback, 'callback')
      return [anyOf([pattern]), callback]
    })
    const rule = this.#rules.find(([isFound]) => isFound(url))
    return rule && { callback: rule[1] }
  }

  /** Resolves to undefined for a response that is not a sitemap by its type, its beginning or its name. */
  async #sitemapIn(response: Response): Promise<Sitemap | undefined> {
    if (isGzip(response.body)) {
      const maxBytes = Number(response.meta.download_maxsize ?? this.#sitemapBytesMax())
      const body = await gunzipped(response.body, maxBytes)
      return body && readSitemap(decodeText(body, detectEncoding(body, null)))
    }
    const isNamedSo = /\.xml(?:\.gz)?$/.test(response.url)
    return isNamedSo || responseKind(response) === 'xml' ? readSitemap(response.text) : undefined
  }
}

function* sitemapsOfRobots({ text, url }: Response): Generator<ListedUrl> {
  for (const [, address] of text.matchAll(/^[^\S\n]*sitemap:([^\n]*)/gim))
    yield { url: urlJoin(url, address!.trim()) }
}
