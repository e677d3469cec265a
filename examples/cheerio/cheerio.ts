import { type Response, Spider } from 'webloom'

/** A spider that reads its pages with cheerio alone: jQuery's calls, on the tree that the selectors would use, too. */
export default class CheerioSpider extends Spider {
  override name = 'cheerio'
  override startUrls = ['http://127.0.0.1:8000/']

  override *parse(response: Response) {
    const { $ } = response
    // cheerio's each() takes a function, from which nothing can be yielded: a loop over the elements can.
    for (const element of $('.book')) {
      const book = $(element)
      yield { title: book.find('h3').text(), price: Number(book.find('.price').text().slice(1)) }
    }
    const next = $('a.next').attr('href')
    if (next !== undefined) yield response.follow(next)
  }
}
