import { Request, type Response, Spider } from 'webloom'

/** Walks the list pages for their quotes, and visits each author and each tag it meets, once. */
export default class QuotesSpider extends Spider {
  override name = 'quotes'
  /** Where the site is; `-a site=…` replaces it before `start()`. */
  site = 'http://127.0.0.1:8000/'

  override *start() {
    yield new Request(this.site)
  }

  override *parse(response: Response) {
    for (const quote of response.css('.quote')) {
      const text = quote.css('.text::text').get()
      const author = quote.css('.author::text').get()
      yield { kind: 'quote', text, author, tags: quote.css('.tags a::text').getall() }
    }
    // Most of these are met on many pages; the dupefilter lets each through once.
    yield* response.followAll('.author', { callback: this.parseAuthor })
    yield* response.followAll('.tags a', { callback: this.parseTag })
    yield* response.followAll('.next')
  }

  *parseAuthor(response: Response) {
    const field = (name: string) => response.css(`.${name}::text`).get()
    const born = response.css('.born').attrib.datetime
    yield { kind: 'author', name: field('name'), trade: field('trade'), born, place: field('place') }
  }

  *parseTag(response: Response) {
    const quotes = Number(response.css('.count').reFirst(/\d+/))
    yield { kind: 'tag', name: response.css('.tag-name::text').get(), quotes }
  }
}
