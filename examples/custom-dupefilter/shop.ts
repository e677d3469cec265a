import { type Response, type SettingsInput, Spider } from 'webloom'
import { ProductDupeFilter } from './product-dupefilter.ts'

/** Walks the bookshop, where a book on sale has a second address. */
export default class ShopSpider extends Spider {
  override name = 'shop'
  override startUrls = ['http://127.0.0.1:8000/', 'http://127.0.0.1:8000/sale/']
  override customSettings: SettingsInput = { DUPEFILTER_CLASS: ProductDupeFilter }

  override *parse(response: Response) {
    yield* response.followAll('.book a', { callback: this.parseBook })
    yield* response.followAll('.next')
  }

  *parseBook(response: Response) {
    yield { url: response.url, title: response.css('h1::text').get() }
  }
}
