import { Request, type Response, Spider } from 'webloom'

/** The quotes of all pages, or of those with one tag: `-a tag=humor`. */
export default class QuotesSpider extends Spider {
  override name = 'quotes'
  /** Where the site is; `-a site=…` to crawl the one beside this project. */
  site = 'https://quotes.toscrape.com/'
  /** Only quotes with this tag. */
  tag?: string

  override *start() {
    yield new Request(this.tag ? `${this.site}tag/${this.tag}/` : this.site)
  }

  override *parse(response: Response): Generator<unknown> {
    for (const quote of response.css('div.quote')) {
      yield {
        text: quote.css('span.text::text').get(),
        author: quote.xpath('span/small/text()').get(),
        tags: quote.css('div.tags a.tag::text').getall(),
      }
    }
    const nextPage = response.css('li.next a::attr(href)').get()
    if (nextPage !== null) yield response.follow(nextPage, { callback: this.parse })
  }
}
