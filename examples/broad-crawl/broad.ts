import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Request, type Response, type SettingsInput, Spider } from 'webloom'

/** Visits many hosts, a few pages of each: titles of the web around a list of start URLs. */
export default class BroadSpider extends Spider {
  override name = 'broad'
  /** A file with a URL on each line, of any length. */
  seeds = 'seeds.txt'

  override customSettings: SettingsInput = {
    // Much at once in all, little at each host: with many hosts the delay costs nothing, and no host feels the crawl.
    CONCURRENT_REQUESTS: 100,
    CONCURRENT_REQUESTS_PER_DOMAIN: 1,
    DOWNLOAD_DELAY: 0.25, // on the open web 1 or more
    // In the open web one owner has many hosts: count them by their domain.
    POLITENESS_GROUP_BY: 'domain',

    // No host has the crawl for itself. Breadth first: near pages of all hosts come before deep ones of some.
    TRAP_PAGES_PER_HOST: 20,
    DEPTH_LIMIT: 10,
    DEPTH_PRIORITY: 1,

    // Some hosts are slow, huge or gone. Nobody waits for them: there are others.
    DOWNLOAD_TIMEOUT: 15,
    DOWNLOAD_MAXSIZE: 2 * 2 ** 20,
    RETRY_TIMES: 1,
    HOST_FAILURES_MAX: 4,

    // What a crawl of many hosts has no use for, or no memory.
    COOKIES_ENABLED: false,
    DUPEFILTER_CLASS: 'memory-bloom', // with workers on Redis: 'redis-bloom'
    BLOOMFILTER_CAPACITY: 1_000_000,

    // Say who you are: somebody will ask. And only for the hosts beside this file: start URLs may be on this machine, links may not.
    USER_AGENT: 'webloom-broad-example (+https://example.com/crawler)',
    PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.0/8'],
  }

  /** The crawl takes lines as it needs them (START_LOW_WATER, START_AHEAD_MAX), so the file may be larger than the memory. */
  override async *start() {
    for await (const url of createInterface(createReadStream(this.seeds)))
      if (url.trim() !== '') yield new Request(url.trim())
  }

  override *parse(response: Response) {
    // Not every link leads to HTML: a page that has no tree has no title and no links.
    if (!response.headers.get('content-type')?.includes('html')) return
    yield { url: response.url, title: response.css('title::text').get('').trim() }
    yield* response.followAll()
  }
}
