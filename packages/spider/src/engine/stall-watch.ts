import type { InFlight, Logger, StatsCollector } from '@webloom/core'

export interface StallWatchOptions {
  /** Returns whether this worker downloads, runs a callback or a pipeline, or is paused. */
  readonly isBusy: () => boolean
  /** Returns how many pages it has begun: with a delay each may be over before the next look. */
  readonly begun: () => number
  /** Resolves to the requests that the queue counts as in flight for this worker. */
  readonly inFlight: () => Promise<readonly InFlight[]>
  readonly stats: StatsCollector
  readonly logger: Logger
  readonly afterMs?: number
  readonly lookEveryMs?: number
}

const AFTER_MS = 30_000
const LOOK_EVERY_MS = 5000
const HOSTS_TOLD_MAX = 10

/**
 * Warns, once each time, when this worker has nothing to do but the queue counts requests as in flight for it. No other
 * worker may take them, so the crawl would not end. It changes nothing itself.
 */
export class StallWatch {
  readonly #options: StallWatchOptions
  #idleSinceMs = performance.now()
  #begun = 0
  #isTold = false
  #looking: NodeJS.Timeout | undefined

  constructor(options: StallWatchOptions) {
    this.#options = options
  }

  open(): void {
    const { lookEveryMs = LOOK_EVERY_MS } = this.#options
    this.#idleSinceMs = performance.now()
    this.#looking = setInterval(() => void this.#look(), lookEveryMs).unref()
  }

  close(): void {
    clearInterval(this.#looking)
  }

  /** True from the warning on until this worker has something to do again. */
  get isStalled(): boolean {
    return this.#isTold && !this.#hasWorked
  }

  /** Since the last look. */
  get #hasWorked(): boolean {
    const { isBusy, begun } = this.#options
    return isBusy() || begun() !== this.#begun
  }

  async #look(): Promise<void> {
    const { begun, afterMs = AFTER_MS, logger } = this.#options
    const nowMs = performance.now()
    if (this.#hasWorked) {
      this.#begun = begun()
      this.#idleSinceMs = nowMs
      this.#isTold = false
    } else if (nowMs - this.#idleSinceMs >= afterMs && !this.#isTold) {
      try {
        await this.#ask(nowMs - this.#idleSinceMs)
      } catch (error) {
        logger.debug({ err: error }, 'what is in flight cannot be told now; it is asked again')
      }
    }
  }

  async #ask(idleMs: number): Promise<void> {
    const { inFlight, stats, logger } = this.#options
    const found = await inFlight()
    if (found.length === 0 || this.#hasWorked) return
    this.#isTold = true
    stats.inc('scheduler/stalled')
    const requests = found.reduce((sum, { count }) => sum + count, 0)
    const hosts = found.slice(0, HOSTS_TOLD_MAX).map(({ slot, count, holder }) => ({ slot, count, holder }))
    logger.warn(
      { requests, hosts, idleS: Math.round(idleMs / 1000) },
      'nothing is downloaded or processed here, but the queue has requests in flight in this worker’s name. The crawl may not end: restart this worker, and others take them over in a few seconds',
    )
  }
}
