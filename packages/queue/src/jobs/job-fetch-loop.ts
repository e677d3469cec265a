/** The loop that takes jobs from BullMQ while the dispatcher wants more requests than lie ready. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger, ProtocolTimes } from '@webloom/core'
import type { JobFetcher, TakenJob } from './job-fetcher.ts'

/** What became of the jobs that were taken. */
export interface Received {
  /** How many may go now. */
  readonly going: number
  /** How long the loop pauses, as all of these jobs are left to other workers for that time. */
  readonly restMs: number
}

export interface JobFetchLoopOptions {
  readonly fetcher: JobFetcher
  readonly times: ProtocolTimes
  readonly logger: Logger
  /** How many more requests are wanted than lie ready. */
  readonly demand: () => number
  /** How many more may be held for hosts that must wait. */
  readonly places: () => number
  readonly receive: (taken: readonly TakenJob[], lockedUntilMs: number) => Promise<Received>
}

const MAX_JOBS_PER_TAKE = 64
/** The pause after a look into the queue that found only requests whose hosts must wait. */
const SEARCH_PAUSE_MS = 20

export class JobFetchLoop {
  readonly #options: JobFetchLoopOptions
  readonly #closing = new AbortController()
  /** True when the last look into the queue found only requests whose hosts must wait. */
  #isSearching = false
  #fetching: Promise<void> | undefined
  #wake = () => {}

  constructor(options: JobFetchLoopOptions) {
    this.#options = options
  }

  async open(): Promise<void> {
    await this.#options.fetcher.open()
    this.#fetching = this.#fetch()
  }

  /** Resolves when the last take has ended. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#wake()
    await this.#options.fetcher.close(this.#fetching)
  }

  /** The demand may have grown: the loop looks again. */
  wake(): void {
    this.#wake()
  }

  async #fetch(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const demand = Math.min(MAX_JOBS_PER_TAKE, this.#options.demand())
      if (demand > 0) {
        // Behind requests whose hosts must wait there may be others that may go. Those that are held here are soon used up, too.
        const places = this.#isSearching ? Math.min(MAX_JOBS_PER_TAKE, this.#options.places()) : 0
        await this.#fetchSome(Math.max(demand, places))
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }

  async #fetchSome(max: number): Promise<void> {
    const { fetcher, receive, times, logger } = this.#options
    try {
      let atMs = performance.now()
      let taken = await fetcher.take(max)
      if (taken.length === 0) {
        atMs = performance.now()
        taken = await fetcher.next()
      }
      const { going, restMs } = await receive(taken, atMs + times.jobs.lockMs)
      this.#isSearching = going === 0 && taken.length > 0
      if (this.#isSearching) await this.#pause(Math.max(SEARCH_PAUSE_MS, restMs))
    } catch (error) {
      if (this.#closing.signal.aborted) return
      logger.warn({ err: error }, 'no requests could be taken from the queue; trying again')
      await this.#pause(times.jobs.errorPauseMs)
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#closing.signal }).catch(() => {})
  }
}
