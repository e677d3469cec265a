import type { Request } from '@webloom/core'
import { bytesOf } from './request-bytes.ts'

/** What is read ahead takes no more than so much, 64 MiB, by the URLs, headers, bodies and meta of the last thousand. */
const AHEAD_BYTES_MAX = 67_108_864
const WEIGHED_MAX = 1000
/** Whether Redis is nearly full is looked at once a second, so that in a second no more than 2 MiB is read ahead. */
const AHEAD_BYTES_PER_MS = 2097
/** A worker has nothing to do when it has had free places for so long: a request that may go is handed out in less. */
const FREE_MS = 250

export interface StartAheadOptions {
  /** START_LOW_WATER. */
  readonly lowWater: number
  /** START_AHEAD_MAX. */
  readonly max: number
  /** Whether another worker is known to have nothing to do. */
  readonly othersAreHungry: () => boolean
}

/**
 * How far start() and seeds are read. As a rule until START_LOW_WATER requests wait. But these may all be of hosts that must wait, and what
 * comes after them be of hosts that need not: so while a worker has places that stay free, many more may wait.
 */
export class StartAhead {
  readonly #options: StartAheadOptions
  /** Undefined: all places of this worker are taken. */
  #freeSinceMs: number | undefined
  #weighed = 0
  #bytesPerRequest = 1
  #lastBytes = 0

  constructor(options: StartAheadOptions) {
    this.#options = options
  }

  /** Notes how many places of this worker are free. */
  places(free: number): void {
    if (free === 0) this.#freeSinceMs = undefined
    else this.#freeSinceMs ??= performance.now()
  }

  /** Notes what was read together. */
  read(requests: readonly Request[]): void {
    let bytes = 0
    for (const request of requests) bytes += Math.min(bytesOf(request), AHEAD_BYTES_MAX)
    this.#lastBytes = bytes
    if (requests.length === 0) return
    this.#bytesPerRequest =
      (this.#bytesPerRequest * this.#weighed + bytes) / (this.#weighed + requests.length)
    this.#weighed = Math.min(this.#weighed + requests.length, WEIGHED_MAX)
  }

  /** More is read while fewer than so many requests wait. */
  get mark(): number {
    const { lowWater, max, othersAreHungry } = this.#options
    if (!this.#isFree && !othersAreHungry()) return lowWater
    return Math.max(lowWater, Math.min(max, AHEAD_BYTES_MAX / this.#bytesPerRequest))
  }

  /** Beyond START_LOW_WATER, how long after what was read last the next may be, milliseconds. */
  get gapMs(): number {
    return this.#lastBytes / AHEAD_BYTES_PER_MS
  }

  get #isFree(): boolean {
    return this.#freeSinceMs !== undefined && performance.now() - this.#freeSinceMs >= FREE_MS
  }
}
