import type { CrawlPast, CrawlRecord } from '@webloom/core'

/** The record of a crawl that ends with its process: there is nothing to remember. */
export class MemoryCrawlRecord implements CrawlRecord {
  async open(): Promise<CrawlPast> {
    return { begun: false, startCursor: 0, startEnded: false }
  }

  async close(): Promise<void> {}

  async startMoved(): Promise<void> {}

  async startEnded(): Promise<void> {}

  async outputBegun(): Promise<boolean> {
    return false
  }

  async beginOutput(): Promise<void> {}

  async ended(): Promise<void> {}
}
