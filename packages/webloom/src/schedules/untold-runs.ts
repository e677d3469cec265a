/** Tells people what is noted on Redis that they are to be told of a spider's schedules, whichever process has noted it. */

import type { CrawlRedisKeys } from '@webloom/queue'
import { takeUntold } from '@webloom/queue'
import type { Redis } from 'ioredis'
import { type FailingCrawl, tellFailed } from './tell-failed.ts'

/** At one look; more are told at the next. */
const MAX_TOLD_PER_LOOK = 10

export interface UntoldRunsOptions extends FailingCrawl {
  readonly redis: Redis
  /** Of the spider's schedules. */
  readonly keys: CrawlRedisKeys
  /** The pause before the second try. Default: as at the end of a run. */
  readonly firstPauseMs?: number | undefined
}

export class UntoldRuns {
  readonly #options: UntoldRunsOptions
  #telling: Promise<void> | undefined

  constructor(options: UntoldRunsOptions) {
    this.#options = options
  }

  /** Tells what is due, beside what its caller does: who is told slowly holds up no crawl. */
  tellMeanwhile(): void {
    this.#telling ??= this.#tell()
      // Redis is away: the next look tries it again.
      .catch((err: unknown) =>
        this.#options.logger.debug({ err }, 'what people are to be told cannot be read'),
      )
      .finally(() => {
        this.#telling = undefined
      })
  }

  async #tell(): Promise<void> {
    const { redis, keys, firstPauseMs, ...failing } = this.#options
    for (let n = 0; n < MAX_TOLD_PER_LOOK; n++) {
      const taken = await takeUntold(redis, keys, firstPauseMs)
      if (!taken) return
      await taken.tried(await tellFailed(failing, taken.untold))
    }
  }
}
