/**
 * A spider: where to begin, what to take from a page, and where to go on.
 *
 *   npm start                            crawls, and writes an item a line to items.jsonl
 *   npm start -- -s DOWNLOAD_DELAY=1     a real site more slowly; --help shows all flags
 *   npm test                             runs parse() on the page that is kept in page.html
 *   npx webloom shell <url>              a prompt to try selectors on any page
 */
import { type Response, type SettingsInput, Spider } from 'webloom'
import { BundledSite } from './site.ts'

export default class QuotesSpider extends Spider {
  name = 'quotes'
  // Your site goes here, and what its pages look like into parse(). This one comes from site.ts and needs no network;
  // https://quotes.toscrape.com/ is built like it.
  startUrls = ['http://quotes.test/']

  customSettings: SettingsInput = {
    // Seconds between two requests to one host: slow enough for a small server.
    DOWNLOAD_DELAY: 0.25,
    // Answers for http://quotes.test/ and lets all else pass. Not needed any more once you crawl your own site.
    DOWNLOADER_MIDDLEWARES: [[BundledSite, 50]],
  }

  async *parse(response: Response) {
    for (const quote of response.css('.quote')) {
      // What is yielded as an object is an item. Fields that a page lacks are null.
      yield {
        text: quote.css('.text::text').get(),
        author: quote.css('.author::text').get(),
        tags: quote.css('.tag::text').getall(),
      }
    }
    // What is yielded as a request is crawled, each page once. Without a callback it comes back to parse().
    yield* response.followAll('.next a')
  }
}
