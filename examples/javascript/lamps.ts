import { Request, type Response, Spider } from 'webloom'

/** Crawls a shop whose pages are empty until their scripts have run. */
export default class LampsSpider extends Spider {
  override name = 'lamps'
  site = 'http://127.0.0.1:8010/'

  override *start() {
    // The list loads more as one scrolls; nobody looks at its images.
    yield new Request(this.site, {
      meta: { browser: { waitFor: '.lamp', scroll: true, block: ['image', 'font'] } },
    })
  }

  override *parse(response: Response) {
    yield* response.followAll('.lamp a', {
      callback: this.parseLamp,
      meta: { browser: { waitFor: '.price' } },
    })
  }

  *parseLamp(response: Response) {
    yield {
      name: response.css('h1::text').get(),
      price: Number(response.css('.price::text').reFirst(/\d+/)),
    }
  }
}
