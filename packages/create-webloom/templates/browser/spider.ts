/**
 * A spider for a site whose pages are empty until their scripts have run: a Chromium renders them before parse() gets them.
 *
 *   npx webloom doctor spider.ts           which browser is used, or the line to type when there is none
 *   npm start                              crawls, and writes an item a line to items.jsonl
 *   npm test                               runs parse() on the page that is kept in page.html, without a browser
 *   npx webloom shell <url> --browser      a prompt to try selectors on any page, as the browser has it
 */
import { Request, type Response, type SettingsInput, Spider } from 'webloom'
import { siteUrl } from './site.ts'

export default class LampsSpider extends Spider {
  name = 'lamps'
  // Your site goes here, and what its pages look like into parse(). This one comes from site.ts and needs no network;
  // https://quotes.toscrape.com/scroll grows like it.
  startUrls = [siteUrl]

  customSettings: SettingsInput = {
    // Seconds between two requests to one host: slow enough for a small server.
    DOWNLOAD_DELAY: 0.25,
  }

  async *start() {
    // Waits for the first lamp, then scrolls as long as the page grows. Nobody looks at its images.
    for (const url of this.startUrls)
      yield new Request(url, {
        meta: { browser: { waitFor: '.lamp', scroll: true, block: ['image', 'font'] } },
      })
  }

  async *parse(response: Response) {
    // A lamp's own page is plain HTML. Without meta.browser it is fetched as any other, which costs a small part of the time.
    yield* response.followAll('.lamp a', { callback: this.parseLamp })
  }

  async *parseLamp(response: Response) {
    yield {
      url: response.url,
      name: response.css('h1::text').get(),
      price: Number(response.css('.price::text').reFirst(/\d+/)),
    }
  }
}
