import type { ProtocolTimes, QueueCounts } from '@webloom/core'
import type { HeldTurns } from '../turns/held-turns.ts'

export interface CrawlRemainderOptions {
  /** Those that this worker has. */
  readonly turns: Pick<HeldTurns, 'size' | 'removedAtMs'>
  /** Of all workers, as Redis has them now. */
  readonly counts: () => Promise<QueueCounts>
  readonly times: ProtocolTimes
}

/**
 * Whether anything is left to do in the crawl. Redis is asked when this worker may have done the last of it, or nothing was
 * heard lately: workers that find nothing to do in a slow crawl would ask all the time.
 */
export class CrawlRemainder {
  readonly #turns: CrawlRemainderOptions['turns']
  readonly #counts: () => Promise<QueueCounts>
  readonly #heardMsMax: number
  /** When there was something. */
  #seenAtMs = Number.NEGATIVE_INFINITY

  constructor({ turns, counts, times }: CrawlRemainderOptions) {
    this.#turns = turns
    this.#counts = counts
    this.#heardMsMax = times.turns.remainderHeardMs
  }

  /** So many requests are waiting, delayed or leased. */
  heard(requests: number): void {
    this.#seenAtMs = requests > 0 ? performance.now() : Number.NEGATIVE_INFINITY
  }

  async isNone(): Promise<boolean> {
    const nowMs = performance.now()
    if (this.#turns.size > 0) return false
    if (this.#seenAtMs > Math.max(this.#turns.removedAtMs, nowMs - this.#heardMsMax)) return false
    const { waiting, delayed, leased } = await this.#counts()
    if (waiting + delayed + leased === 0) return true
    this.#seenAtMs = nowMs
    return false
  }
}
