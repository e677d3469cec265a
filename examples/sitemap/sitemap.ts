import { type Response, type SitemapEntry, SitemapSpider } from 'webloom'

/** Reads a site's sitemaps instead of walking its links: the pages that the site itself wants found. */
export default class BookSitemapSpider extends SitemapSpider {
  override name = 'book-sitemap'
  // A robots.txt names the sitemaps; the address of a sitemap or of an index will do as well.
  override sitemapUrls = ['http://127.0.0.1:8000/robots.txt']
  // The first pattern that a URL holds names its callback. A page that fits none is not fetched.
  override sitemapRules = [[/\/p-\d+\.html$/, this.parseBook] as const]
  /** Only pages that have changed since: `-a since=2025-01-01` for more of them, or the day of your last crawl. */
  since = '2026-01-01'

  override *sitemapFilter(entries: Iterable<SitemapEntry>) {
    for (const entry of entries) {
      // An index's entries come here, too, and have no date: what the site does not date is read.
      if (entry.lastmod === undefined || String(entry.lastmod) >= this.since) yield entry
    }
  }

  *parseBook(response: Response) {
    yield { url: response.url, title: response.css('h1::text').get() }
  }
}
