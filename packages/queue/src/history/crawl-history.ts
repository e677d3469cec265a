/** Keeps what becomes of a crawl: samples while it runs, and what each run came to. */

import { type Logger, within } from '@webloom/core'
import type { Redis } from 'ioredis'
import { readCrawl } from '../outside/crawl-view.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { keepSample, SAMPLES_PER_HOUR } from './crawl-samples.ts'
import { keepRun } from './run-records.ts'

export interface CrawlHistoryOptions {
  /** The queue's Redis; opened and closed by whoever gives it. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  /** STATS_KEY with the crawl's name in it. */
  readonly statsKey: string
  /** HISTORY_HOURS: of so many hours samples are kept; 0: none are. */
  readonly hours: number
  readonly logger: Logger
}

/** A leaving worker waits no longer; the run then stands as it was at most ten seconds before. */
const END_ANSWER_MS_MAX = 4000

export class CrawlHistory {
  readonly #options: CrawlHistoryOptions

  constructor(options: CrawlHistoryOptions) {
    this.#options = options
  }

  /** Keeps the crawl as it is now. */
  async sample(): Promise<void> {
    const { redis, keys, hours } = this.#options
    const seen = await readCrawl(this.#options)
    await keepRun(redis, keys, seen)
    const max = Math.ceil(hours * SAMPLES_PER_HOUR)
    if (max > 0) await keepSample(redis, keys, seen, max)
  }

  /** Called by the last worker, when all have written their stats. Never rejects. */
  async ended(): Promise<void> {
    try {
      await within(END_ANSWER_MS_MAX, 'writing down what the run came to', this.sample())
    } catch (err) {
      this.#options.logger.warn({ err }, 'the record of this run is incomplete (webloom runs)')
    }
  }
}
