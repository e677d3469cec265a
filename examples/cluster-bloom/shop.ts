import { Request, type Response, type SettingsInput, Spider } from 'webloom'

/** Any number of workers run this spider together: queue, pace and the URLs met are on Redis, the latter in a Bloom filter. */
export default class ShopSpider extends Spider {
  override name = 'shop'
  site = 'http://127.0.0.1:8000/'

  override customSettings: SettingsInput = {
    DUPEFILTER_CLASS: 'redis-bloom',
    // For a million URLs at one in a million taken for seen: 3.6 MB, where scrapy-redis's set takes 89. `webloom plan` compares.
    BLOOMFILTER_CAPACITY: 1_000_000,
    BLOOMFILTER_ERROR_RATE: 1e-6,
    // Items of all workers in one Redis list, shop:items.
    ITEM_PIPELINES: [['redis', 300]],
    // Holds for all workers together, not for each.
    DOWNLOAD_DELAY: 0.1,
    PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  }

  override *start() {
    yield new Request(this.site)
  }

  override *parse(response: Response) {
    yield* response.followAll('nav a[href$="/"]:not([href*="login"])')
    yield* response.followAll('.next')
    yield* response.followAll('.book a', { callback: this.parseBook })
  }

  *parseBook(response: Response) {
    yield { url: response.url, title: response.css('h1::text').get() }
  }
}
