import { type Crawler, type Extension, NotConfigured } from '@webloom/core'

const MIB = 1024 * 1024

/**
 * Watches the memory of the process, as Scrapy's extension of that name. Past MEMUSAGE_LIMIT_MB this worker finishes its
 * pages in flight and leaves with `memusage_exceeded`; `webloom worker` starts another in its place.
 */
export class MemoryUsage implements Extension {
  readonly #timer: NodeJS.Timeout

  constructor(intervalMs: number, look: () => void) {
    this.#timer = setInterval(look, intervalMs)
    this.#timer.unref()
  }

  static fromCrawler(crawler: Crawler): MemoryUsage {
    const { settings, stats, signals, logger } = crawler
    if (!settings.getBool('MEMUSAGE_ENABLED')) throw new NotConfigured('MEMUSAGE_ENABLED is false')
    const limit = settings.getInt('MEMUSAGE_LIMIT_MB') * MIB
    const warning = settings.getInt('MEMUSAGE_WARNING_MB') * MIB
    let isWarned = false
    let isOver = false
    const look = () => {
      const bytes = process.memoryUsage.rss()
      stats.max('memusage/max', bytes)
      if (limit > 0 && bytes > limit && !isOver) {
        isOver = true
        stats.set('memusage/limit_reached', 1)
        logger.error(
          { bytes, limitBytes: limit },
          'memory is above MEMUSAGE_LIMIT_MB: this process finishes what it holds and ends',
        )
        crawler.close('memusage_exceeded')
      }
      if (warning > 0 && bytes > warning && !isWarned) {
        isWarned = true
        stats.set('memusage/warning_reached', 1)
        logger.warn({ bytes, warningBytes: warning }, 'memory is above MEMUSAGE_WARNING_MB')
      }
    }
    signals.connect('engineStarted', () => {
      stats.set('memusage/startup', process.memoryUsage.rss())
      look()
    })
    return new this(settings.getMs('MEMUSAGE_CHECK_INTERVAL_SECONDS'), look)
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
