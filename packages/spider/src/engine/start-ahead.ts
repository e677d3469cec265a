import type { Request } from '@webloom/core'
import { bytesOf } from './request-bytes.ts'

/** What is read ahead takes no more than so much, 64 MiB, by the URLs, headers, bodies and meta of those that came last. */
const AHEAD_BYTES_MAX = 67_108_864
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
  #bytesPerRequest = 1

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
    for (const request of requests) bytes += bytesOf(request)
    if (requests.length > 0) this.#bytesPerRequest = bytes / requests.length
  }

  /** More is read while fewer than so many requests wait. */
  get mark(): number {
    const { lowWater, max, othersAreHungry } = this.#options
    if (!this.#isFree && !othersAreHungry()) return lowWater
    return Math.max(lowWater, Math.min(max, AHEAD_BYTES_MAX / this.#bytesPerRequest))
  }

  get #isFree(): boolean {
    return this.#freeSinceMs !== undefined && performance.now() - this.#freeSinceMs >= FREE_MS
  }
}
