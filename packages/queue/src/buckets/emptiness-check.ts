import type { ProtocolTimes, QueueCounts } from '@webloom/core'

/** The turns that a worker has. */
export interface TurnActivity {
  readonly size: number
  /** When it last gave one up, by `performance.now()`. */
  readonly removedAtMs: number
}

export interface EmptinessCheckOptions {
  readonly turns: TurnActivity
  /** The requests of all workers, as Redis counts them now. */
  readonly counts: () => Promise<QueueCounts>
  readonly times: ProtocolTimes
  /** Whether it was told that nothing is left, and would be told otherwise. Default: never. */
  readonly isQuiet?: () => boolean
}

/**
 * Checks whether any request is left in the crawl. Redis is asked only when this worker may have done the last one, or when no
 * other worker has told its counts lately. Otherwise idle workers of a slow crawl would ask all the time.
 */
export class EmptinessCheck {
  readonly #turns: EmptinessCheckOptions['turns']
  readonly #counts: () => Promise<QueueCounts>
  readonly #heardMsMax: number
  readonly #isQuiet: () => boolean
  /** When requests were last known to be left. */
  #seenAtMs = Number.NEGATIVE_INFINITY

  constructor({ turns, counts, times, isQuiet = () => false }: EmptinessCheckOptions) {
    this.#turns = turns
    this.#counts = counts
    this.#isQuiet = isQuiet
    this.#heardMsMax = times.turns.emptinessHeardMs
  }

  /** Another worker has told how many requests are waiting, delayed or leased. */
  heard(requests: number): void {
    this.#seenAtMs = requests > 0 ? performance.now() : Number.NEGATIVE_INFINITY
  }

  async isEmpty(): Promise<boolean> {
    const nowMs = performance.now()
    if (this.#turns.size > 0) return false
    if (this.#isQuiet()) return true
    if (this.#seenAtMs > Math.max(this.#turns.removedAtMs, nowMs - this.#heardMsMax)) return false
    const { waiting, delayed, leased } = await this.#counts()
    if (waiting + delayed + leased === 0) return true
    this.#seenAtMs = nowMs
    return false
  }
}
