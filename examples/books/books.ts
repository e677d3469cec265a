import { CrawlSpider, LinkExtractor, type Response, Rule } from 'webloom'

/** Walks a bookshop by rules: which links are followed, and which of them lead to a book. */
export default class BooksSpider extends CrawlSpider {
  override name = 'books'
  override startUrls = ['http://127.0.0.1:8000/']

  // A link belongs to the first rule that finds it. What no rule finds is not fetched: about, login, sale, basket.
  override rules = [
    // A callback, so these pages are items, and their own links are not followed (`follow: true` would).
    new Rule(new LinkExtractor({ allow: /\/p-\d+\.html$/, deny: '/sale/' }), { callback: this.parseBook }),
    // No callback: these pages are only walked through. Every book is in two lists, and fetched once.
    new Rule(new LinkExtractor({ restrictCss: '.next' })),
    new Rule(new LinkExtractor({ allow: /\/(fiction|history|travel|crafts)\/$/ })),
  ]

  async *parseBook(response: Response) {
    yield {
      url: response.url,
      title: response.css('h1::text').get(),
      author: response.css('.author::text').get(),
      category: response.css('.category::text').get(),
      price: Number(response.css('.price::text').reFirst(/[\d.]+/)),
      stock: Number(response.css('.stock::text').reFirst(/\d+/)),
    }
  }
}
