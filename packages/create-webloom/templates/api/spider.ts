/**
 * A spider for a JSON API: each answer holds some items, and says where the next page is.
 *
 *   npm start                            crawls, and writes an item a line to items.jsonl
 *   npm start -- -O items.csv            writes a table instead; --help shows all flags
 *   npm test                             runs parse() on the answer that is kept in page.json
 *   npx webloom shell <url>              a prompt to try response.json() and response.jmespath() on any answer
 */
import { type Response, type SettingsInput, Spider } from 'webloom'
import { BundledApi } from './site.ts'

/** What the API answers, as far as this spider reads it. */
interface Answer {
  readonly quotes: readonly { readonly text: string; readonly author: { readonly name: string } }[]
  /** The path of the next page; null on the last one. */
  readonly next: string | null
}

export default class ApiSpider extends Spider {
  name = 'api'
  // Your API goes here. This one comes from site.ts and needs no network.
  startUrls = ['http://api.test/quotes?page=1']

  customSettings: SettingsInput = {
    DEFAULT_REQUEST_HEADERS: { Accept: 'application/json' },
    // Seconds between two requests to one host: slow enough for a small server.
    DOWNLOAD_DELAY: 0.25,
    // Answers for http://api.test/ and lets all else pass. Not needed any more once you crawl your own API.
    DOWNLOADER_MIDDLEWARES: [[BundledApi, 50]],
  }

  async *parse(response: Response) {
    // The type is a promise of yours, which nobody checks: a change of the API shows in npm test, or as empty fields.
    const { quotes, next } = response.json() as Answer
    for (const { text, author } of quotes) yield { text, author: author.name }
    // Requests of other methods and with bodies: new JsonRequest(url, { data: { page: 2 } }).
    if (next !== null) yield response.follow(next)
  }
}
