import { Request, type Response, Spider } from 'webloom'

/** Every author once, however many of the quotes lead to the page about them. */
export default class AuthorSpider extends Spider {
  override name = 'author'
  site = 'https://quotes.toscrape.com/'

  override *start() {
    yield new Request(this.site)
  }

  override *parse(response: Response): Generator<unknown> {
    yield* response.followAll('.author + a', { callback: this.parseAuthor })
    yield* response.followAll('li.next a', { callback: this.parse })
  }

  *parseAuthor(response: Response) {
    const extractWithCss = (query: string) => response.css(query).get('').trim()
    yield {
      name: extractWithCss('h3.author-title::text'),
      birthdate: extractWithCss('.author-born-date::text'),
      bio: extractWithCss('.author-description::text'),
    }
  }
}
