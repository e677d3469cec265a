import type { QueueCounts } from '@webloom/core'
import type { ShardRest } from '../shards/shard-rest.ts'

/** How long a shard that has nothing is believed: its quarantine may be changed from outside. */
const BELIEVED_MS = 10_000

/** The counts of a shard, which is not asked again while it has nothing. */
export class QuietCounts {
  readonly #ask: () => Promise<QueueCounts>
  readonly #rest: ShardRest
  #known: { readonly counts: QueueCounts; readonly untilMs: number } | undefined

  constructor(rest: ShardRest, ask: () => Promise<QueueCounts>) {
    this.#rest = rest
    this.#ask = ask
    rest.onStirred(() => {
      this.#known = undefined
    })
  }

  async now(): Promise<QueueCounts> {
    if (this.#known && performance.now() < this.#known.untilMs) return this.#known.counts
    const stirs = this.#rest.stirs
    const wasQuiet = this.#rest.isQuiet
    const counts = await this.#ask()
    if (wasQuiet && stirs === this.#rest.stirs)
      this.#known = { counts, untilMs: performance.now() + BELIEVED_MS }
    return counts
  }
}
