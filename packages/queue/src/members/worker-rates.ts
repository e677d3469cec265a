/** How fast a worker was over the last ten seconds, and how much of it was in use. */

import { linesAt, type StatsCollector } from '@webloom/core'
import type { WorkerActivity } from '../crawl/crawl-worker.ts'

/** Rates are measured over this time. */
const RATE_MS = 10_500
/** How often is looked at what is in use. */
const LOOKS_EVERY_MS = 250

/** What this worker had done at one moment of the monotonic clock. */
interface Done {
  readonly at: number
  readonly pages: number
  readonly items: number
  readonly errors: number
  /** For how long it had been in use: half a second when one of two places was taken for a second. */
  readonly busyMs: number
}

export type WorkerRates = Pick<
  WorkerActivity,
  'pages' | 'items' | 'errors' | 'pagesPerMinute' | 'itemsPerMinute' | 'errorsPerMinute' | 'busy'
>

export class WorkerRateMeter {
  readonly #stats: StatsCollector
  readonly #inUse: () => number
  #done: Done[] = []
  #looking: NodeJS.Timeout | undefined
  #loop = performance.eventLoopUtilization()
  #lookedAt = performance.now()
  #busyMs = 0

  /** @param inUse the part of its places that are taken at this moment, 0 to 1 */
  constructor(stats: StatsCollector, inUse: () => number) {
    this.#stats = stats
    this.#inUse = inUse
  }

  open(): void {
    this.#lookedAt = performance.now()
    this.#looking = setInterval(() => this.#look(), LOOKS_EVERY_MS).unref()
  }

  close(): void {
    clearInterval(this.#looking)
  }

  measured(): WorkerRates {
    this.#look()
    const count = (key: string) => Number(this.#stats.get(key) ?? 0)
    const done = {
      at: performance.now(),
      pages: count('response_received_count'),
      items: count('item_scraped_count'),
      errors: linesAt('ERROR', count),
      busyMs: this.#busyMs,
    }
    this.#done = [...this.#done.filter(({ at }) => done.at - at <= RATE_MS), done]
    const first = this.#done[0]!
    const passedMs = done.at - first.at
    const perMinute = (more: number) => (passedMs > 0 ? Math.round((more * 60_000) / passedMs) : 0)
    return {
      pages: done.pages,
      items: done.items,
      errors: done.errors,
      pagesPerMinute: perMinute(done.pages - first.pages),
      itemsPerMinute: perMinute(done.items - first.items),
      errorsPerMinute: perMinute(done.errors - first.errors),
      busy: passedMs > 0 ? Math.round((100 * (done.busyMs - first.busyMs)) / passedMs) / 100 : 0,
    }
  }

  /** A worker whose event loop has no time left is in use as one is that has no place left. */
  #look(): void {
    const now = performance.now()
    const { utilization } = performance.eventLoopUtilization(this.#loop)
    this.#loop = performance.eventLoopUtilization()
    this.#busyMs += (now - this.#lookedAt) * Math.min(1, Math.max(utilization, this.#inUse()))
    this.#lookedAt = now
  }
}
