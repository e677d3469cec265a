import { setTimeout as sleep } from 'node:timers/promises'
import type { ProtocolTimes, StatsCollector } from '@webloom/core'

export interface HighWaterOptions {
  /** Resolves to true when the queue's store is nearly full. Default: it never is. */
  readonly isNearlyFull?: () => Promise<boolean>
  readonly stats: StatsCollector
  readonly times: ProtocolTimes['scheduler']
}

/** Holds links back for a while when the queue is nearly full, so that pages without links make room. Then they may use the rest. */
export class HighWater {
  readonly isNearlyFull: () => Promise<boolean>
  readonly #stats: StatsCollector
  readonly #times: ProtocolTimes['scheduler']

  constructor({ isNearlyFull = async () => false, stats, times }: HighWaterOptions) {
    this.isNearlyFull = isNearlyFull
    this.#stats = stats
    this.#times = times
  }

  async hold(signal: AbortSignal): Promise<void> {
    const until = performance.now() + this.#times.highWaterHoldMs
    while (!signal.aborted && performance.now() < until && (await this.isNearlyFull())) {
      this.#stats.inc('scheduler/high_water_waits')
      await sleep(this.#times.highWaterLookMs, undefined, { signal }).catch(() => {})
    }
  }
}
