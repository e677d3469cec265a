import type { Crawler, ItemPipeline } from 'webloom/ports'

/** Notes in each item when it was crawled, and by which spider. */
export class ExamplePipeline implements ItemPipeline<object> {
  readonly #spider: string

  constructor(spider: string) {
    this.#spider = spider
  }

  static fromCrawler({ spider }: Crawler) {
    return new ExamplePipeline(spider.name)
  }

  processItem(item: object) {
    return { ...item, crawled: new Date().toISOString(), spider: this.#spider }
  }
}
