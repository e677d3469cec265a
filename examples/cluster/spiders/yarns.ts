import { RedisSpider, type Response } from 'webloom'

/** Walks the mills' lists for their yarns, and from each yarn to those that go with it, at this mill or another. */
export default class YarnsSpider extends RedisSpider {
  override name = 'yarns'
  /** Seconds with nothing to do after which the crawl is finished. Without it the workers stay, for seeds yet to come. */
  override maxIdleTime = 5

  override *parse(response: Response) {
    yield* response.followAll('.yarns a', { callback: this.parseYarn })
    yield* response.followAll('.next, .mill')
  }

  *parseYarn(response: Response) {
    const field = (name: string) => response.css(`.${name}::text`).get()
    yield {
      url: response.url,
      mill: field('mill-name'),
      colour: field('colour'),
      fibre: field('fibre'),
      grams: Number(field('grams')),
      price: Number(field('price')),
    }
    // Each yarn is met on a list and on several other yarns' pages; the dupefilter lets it through once.
    yield* response.followAll('.goes-with a', { callback: this.parseYarn })
  }
}
