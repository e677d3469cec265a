/**
 * A spider that walks a whole site: by its links, as rules say, and by its sitemap, which lists pages that no link leads to.
 * (Of large sites the sitemap alone may do: SitemapSpider reads compressed ones, too.)
 *
 *   npm start                                      crawls, and writes an item a line to items.jsonl
 *   npm start -- -s CLOSESPIDER_PAGECOUNT=100      ends after some hundred pages; --help shows all flags
 *   npm test                                       runs parsePage() on the page that is kept in page.html
 *   npx webloom shell <url>                        a prompt to try selectors on any page
 */
import { CrawlSpider, LinkExtractor, Request, type Response, Rule, type SettingsInput } from 'webloom'
import { BundledSite } from './site.ts'

export default class SiteSpider extends CrawlSpider {
  name = 'site'
  // Your site goes here. This one comes from site.ts and needs no network.
  startUrls = ['http://shop.test/']
  // The crawl stays on these hosts.
  allowedDomains = this.startUrls.map((url) => new URL(url).hostname)

  // A link belongs to the first rule that finds it. A rule without a callback only follows.
  rules = [
    new Rule(new LinkExtractor({ deny: /\/(?:login|basket)\b/ }), { callback: 'parsePage', follow: true }),
  ]

  customSettings: SettingsInput = {
    // Seconds between two requests to one host: slow enough for a small server.
    DOWNLOAD_DELAY: 0.25,
    // Answers for http://shop.test/ and lets all else pass. Not needed any more once you crawl your own site.
    DOWNLOADER_MIDDLEWARES: [[BundledSite, 50]],
  }

  /** Asks for the start pages, and for the sitemap of each. */
  async *start() {
    for (const url of this.startUrls) {
      yield new Request(url)
      yield new Request(new URL('/sitemap.xml', url).href, { callback: this.parseSitemap })
    }
  }

  /** Its pages are treated as start pages are: an item each, and their links are followed, too. An index lists sitemaps. */
  *parseSitemap(response: Response) {
    const urlsOf = (entry: string) =>
      response.xpath(`//*[local-name()="${entry}"]/*[local-name()="loc"]/text()`).getall()
    for (const url of urlsOf('url')) yield new Request(url)
    for (const url of urlsOf('sitemap')) yield new Request(url, { callback: this.parseSitemap })
  }

  /** Gets pages that no rule has found. */
  parseStartUrl(response: Response) {
    return this.parsePage(response)
  }

  /** What becomes of a page. A page that is linked and in the sitemap is fetched once. */
  *parsePage(response: Response) {
    yield {
      url: response.url,
      title: response.css('title::text').get(),
      heading: response.css('h1::text').get(),
      description: response.css('meta[name=description]').attrib.content,
    }
  }
}
