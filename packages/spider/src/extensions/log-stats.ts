import { type Crawler, type Extension, NotConfigured, timerMs } from '@webloom/core'

/** Logs a line every LOGSTATS_INTERVAL seconds: what was done so far, and how fast it goes now. */
export class LogStats implements Extension {
  readonly #timer: NodeJS.Timeout

  constructor(intervalMs: number, log: () => void) {
    this.#timer = setInterval(log, timerMs(intervalMs))
    this.#timer.unref()
  }

  static fromCrawler({ settings, stats, logger }: Crawler): LogStats {
    const seconds = settings.getFloat('LOGSTATS_INTERVAL')
    if (seconds === 0) throw new NotConfigured('LOGSTATS_INTERVAL is 0')
    let [pagesBefore, itemsBefore] = [0, 0]
    return new this(seconds * 1000, () => {
      const pages = Number(stats.get('response_received_count') ?? 0)
      const items = Number(stats.get('item_scraped_count') ?? 0)
      const perMinute = (count: number) => Math.round((count * 60) / seconds)
      logger.info(
        `crawled ${pages} pages (at ${perMinute(pages - pagesBefore)} pages/min), scraped ${items} items (at ${perMinute(items - itemsBefore)} items/min)`,
      )
      ;[pagesBefore, itemsBefore] = [pages, items]
    })
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
