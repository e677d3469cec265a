/** Runs that a worker here has refused, until workers of other machines have had the time to join them. */

import { type CrawlName, type Logger, withoutTextSecrets } from '@webloom/core'
import { crawlRedisKeys, crawlShown, refuseRun } from '@webloom/queue'
import type { Redis } from 'ioredis'

/** A machine that refuses a crawl may be the only one that does: workers of others have so long to join its run. */
const OTHERS_JOIN_MS = 20_000

interface Refusal {
  readonly name: CrawlName
  /** As the record had it when the worker was started: another schedule may have gone on with the run, with flags of its own. */
  readonly asked: string
  readonly why: string
  readonly fromMs: number
}

export class Refusals {
  readonly #redis: Redis
  readonly #logger: Logger
  readonly #othersJoinMs: number
  readonly #refused = new Map<string, Refusal>()

  constructor(redis: Redis, logger: Logger, othersJoinMs = OTHERS_JOIN_MS) {
    this.#redis = redis
    this.#logger = logger
    this.#othersJoinMs = othersJoinMs
  }

  /** @param asked what its worker was started for */
  add(name: CrawlName, asked: string, why: string): void {
    const key = JSON.stringify([crawlRedisKeys(name).queueName, asked])
    if (this.#refused.has(key)) return
    const fromMs = performance.now() + this.#othersJoinMs
    this.#refused.set(key, { name, asked, why: withoutTextSecrets(why), fromMs })
  }

  /** Ends those that no worker has joined, and notes that people are to be told. */
  async end(): Promise<void> {
    for (const [key, { name, asked, why, fromMs }] of this.#refused) {
      if (performance.now() < fromMs) continue
      const schedule = await refuseRun({ redis: this.#redis, name, asked }, why)
      this.#refused.delete(key)
      if (schedule === undefined) continue
      this.#logger.error(
        { schedule, reason: why },
        `${crawlShown(crawlRedisKeys(name))} is ended, as its worker refuses it; its schedule tries it again at its next hour`,
      )
    }
  }
}
