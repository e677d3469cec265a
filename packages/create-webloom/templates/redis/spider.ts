/**
 * A spider that any number of workers run as one crawl. They share the queue, the pages seen and each host's pace on Redis.
 *
 *   npm start                            crawls in one process, without Redis, into items.jsonl
 *   docker compose up --build            Redis and two workers, of this code as it is; docker-compose.yml tells more
 *   npm run worker                       two workers on this machine, with your Redis: set REDIS_URL=redis://127.0.0.1:6379
 *   npm run status                       what they are doing, on all machines
 *   npm test                             runs parse() on a page of site.ts
 */
import { type Response, type SettingsInput, Spider } from 'webloom'
import { BundledSite } from './site.ts'

/** How workers share. Without REDIS_URL none of it is needed: queue and filter are in the process. */
const shared: SettingsInput = {
  // Pages seen are kept in a Bloom filter: 3.6 bytes each, at the price that one new page of a million is taken for seen.
  DUPEFILTER_CLASS: 'redis-bloom',
  BLOOMFILTER_CAPACITY: 1_000_000,
  // Each item goes to the Redis list quotes:items.
  ITEM_PIPELINES: [['redis', 300]],
}

export default class QuotesSpider extends Spider {
  name = 'quotes'
  // Your site goes here, and what its pages look like into parse(). This one comes from site.ts and needs no network.
  startUrls = ['http://quotes.test/']

  customSettings: SettingsInput = {
    ...(process.env.REDIS_URL ? shared : {}),
    // Seconds between two requests to one host, whichever worker sends them.
    DOWNLOAD_DELAY: 0.1,
    // Answers for http://quotes.test/ and lets all else pass. Not needed any more once you crawl your own site.
    DOWNLOADER_MIDDLEWARES: [[BundledSite, 50]],
  }

  async *parse(response: Response) {
    for (const quote of response.css('.quote'))
      yield { text: quote.css('.text::text').get(), author: quote.css('.author a::text').get() }
    // Pages link to one another, and each is fetched once, by one of the workers.
    yield* response.followAll('.next a, .author a')
  }
}
