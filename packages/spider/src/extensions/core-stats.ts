import type { Crawler, Extension, StatsCollector } from '@webloom/core'

/** Counts when and why the crawl began and ended and how fast it was, under Scrapy's keys. */
export class CoreStats implements Extension {
  readonly #stats: StatsCollector
  #startedAt = Date.now()

  constructor({ stats, signals }: Pick<Crawler, 'stats' | 'signals'>) {
    this.#stats = stats
    signals.connect('spiderOpened', () => this.#opened())
    signals.connect('spiderClosed', ({ reason }) => this.#closed(reason))
  }

  static fromCrawler(crawler: Crawler): CoreStats {
    return new this(crawler)
  }

  /** Does nothing, as the extension holds nothing. */
  close(): void {}

  #opened(): void {
    this.#startedAt = Date.now()
    this.#stats.set('start_time', new Date(this.#startedAt).toISOString())
  }

  #closed(reason: string): void {
    const seconds = (Date.now() - this.#startedAt) / 1000
    this.#stats.set('finish_time', new Date().toISOString())
    this.#stats.set('finish_reason', reason)
    this.#stats.set('elapsed_time_seconds', seconds)
    if (seconds === 0) return
    this.#stats.set('responses_per_minute', this.#perMinute('response_received_count', seconds))
    this.#stats.set('items_per_minute', this.#perMinute('item_scraped_count', seconds))
  }

  #perMinute(key: string, seconds: number): number {
    return Math.round((Number(this.#stats.get(key) ?? 0) / seconds) * 6000) / 100
  }
}
