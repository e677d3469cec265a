import type {
  DupeFilterDescription,
  Extension,
  Logger,
  QueueOrder,
  Settings,
  StatsCollector,
  StatValue,
} from '@webloom/core'
import type { Engine, Spider } from '@webloom/spider'

/** Which implementations run, for the start banner. */
export interface CrawlParts {
  readonly queue: { readonly name: string; readonly order: QueueOrder }
  readonly filter: DupeFilterDescription
  readonly outputs: readonly string[]
}

/** What has been done and what is under way, for progress displays. */
export interface CrawlSnapshot {
  readonly done: number
  readonly queued: number
  readonly downloading: number
  readonly scraping: number
  readonly items: number
  readonly errors: number
  readonly filtered: number
  readonly retries: number
}

/** How a crawl ended. */
export interface CrawlResult {
  /** `finished`, `shutdown`, `closespider_…`, `start_error`, or what the spider gave to `close`. */
  readonly finishReason: string
  readonly stats: Record<string, StatValue>
}

interface CrawlOptions {
  readonly engine: Engine
  readonly spider: Spider
  readonly settings: Settings
  readonly stats: StatsCollector
  readonly logger: Logger
  readonly scheduler: { counts(): Promise<{ waiting: number; delayed: number }> }
  readonly parts: CrawlParts
  readonly extensions: readonly Extension[]
}

/** One crawl of one spider, from `run` to its end. */
export class Crawl {
  readonly #options: CrawlOptions

  constructor(options: CrawlOptions) {
    this.#options = options
  }

  get spider(): Spider {
    return this.#options.spider
  }

  get settings(): Settings {
    return this.#options.settings
  }

  get stats(): StatsCollector {
    return this.#options.stats
  }

  get logger(): Logger {
    return this.#options.logger
  }

  get parts(): CrawlParts {
    return this.#options.parts
  }

  /** Resolves when the crawl is over; rejects when it could not be opened or an output could not be written. */
  async run(): Promise<CrawlResult> {
    const { engine, stats, extensions } = this.#options
    try {
      const finishReason = await engine.run()
      return { finishReason, stats: stats.snapshot() }
    } finally {
      for (const extension of extensions) await extension.close()
    }
  }

  /** Lets what is in flight finish. */
  stop(reason: string): void {
    this.#options.engine.stop(reason)
  }

  /** Cuts off what is in flight. */
  abort(reason: string): void {
    this.#options.engine.abort(reason)
  }

  async snapshot(): Promise<CrawlSnapshot> {
    const { engine, stats, scheduler } = this.#options
    const { waiting, delayed } = await scheduler.counts()
    const count = (key: string) => Number(stats.get(key) ?? 0)
    return {
      done: count('response_received_count'),
      queued: waiting + delayed,
      ...engine.activity,
      items: count('item_scraped_count'),
      errors: count('log_count/ERROR'),
      filtered: count('dupefilter/filtered'),
      retries: count('retry/count'),
    }
  }
}
