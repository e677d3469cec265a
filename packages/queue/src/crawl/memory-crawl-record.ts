import type { CrawlPast, CrawlRecord } from '@webloom/core'

/** The record of a crawl that ends with its process, and so remembers nothing. */
export class MemoryCrawlRecord implements CrawlRecord {
  #startEnded = false

  async open(): Promise<CrawlPast> {
    return { begun: false }
  }

  async close(): Promise<void> {}

  async takeStart(signal: AbortSignal): Promise<number | null> {
    return this.#startEnded || signal.aborted ? null : 0
  }

  async startMoved(): Promise<void> {}

  async startEnded(): Promise<void> {
    this.#startEnded = true
  }

  /** The only worker has nothing to do. */
  async finish(): Promise<boolean> {
    return true
  }

  async outputBegun(): Promise<boolean> {
    return false
  }

  async beginOutput(): Promise<void> {}

  async ended(): Promise<void> {}
}
