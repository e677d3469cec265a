import type { TurnWakes } from '../buckets/turn-jobs.ts'
import { ShardRest } from '../shards/shard-rest.ts'

/** A message may be lost: a worker looks for turns that often; less and less often as long as it finds none, as sweeps tell of those that wait, too. */
const LOOKS_EVERY_MS = 1000
const LOOKS_EVERY_MS_MAX = 16_000
/** Where there is nothing, the script that brings something tells so. */
const LOOKS_QUIET_MS = 300_000
/** A shard's turns are told of no more often. */
const TELLS_EVERY_MS = 20

/** Lets a worker wait for turns of one shard without a connection for that: who brings one tells all. */
export class ShardWakes implements TurnWakes {
  readonly #publish: () => void
  readonly #rest: ShardRest
  #looksEveryMs = LOOKS_EVERY_MS
  #isTold = false
  #isClosed = false
  #telling: NodeJS.Timeout | undefined
  #wake: (() => void) | undefined

  /** @param publish tells all workers, this one too */
  constructor(publish: () => void, rest = new ShardRest()) {
    this.#publish = publish
    this.#rest = rest
    rest.onStirred(() => this.heard())
  }

  async wait(due: Promise<number | undefined>): Promise<void> {
    if (!this.#isTold && !this.#isClosed) await this.#untilTold(due)
    this.#isTold = false
  }

  tell(): void {
    if (this.#isClosed) return
    this.heard()
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined
      this.#publish()
    }, TELLS_EVERY_MS)
  }

  /** A worker has told that there are turns. */
  heard(): void {
    this.#isTold = true
    this.#looksEveryMs = LOOKS_EVERY_MS
    this.#wake?.()
  }

  close(): void {
    if (this.#telling) {
      clearTimeout(this.#telling)
      this.#publish()
    }
    this.#isClosed = true
    this.#wake?.()
  }

  async #untilTold(due: Promise<number | undefined>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const looksInMs = this.#rest.isQuiet ? LOOKS_QUIET_MS : this.#looksEveryMs
    this.#looksEveryMs = Math.min(LOOKS_EVERY_MS_MAX, 2 * this.#looksEveryMs)
    let timer = setTimeout(resolve, looksInMs)
    const hasDue = (ms: number | undefined) => {
      if (ms === undefined || ms >= looksInMs || this.#wake !== resolve) return
      clearTimeout(timer)
      timer = setTimeout(resolve, Math.max(1, Math.ceil(ms)))
    }
    due.then(hasDue, () => {})
    await promise
    this.#wake = undefined
    clearTimeout(timer)
  }
}
