import type { Request } from '@webloom/core'
import { bytesOf } from './request-bytes.ts'

/** While a worker has nothing to do, so many times START_LOW_WATER may wait: all that waits may be of hosts that must wait. */
const AHEAD_SHARE = 100
/** But no more than take so much together, 64 MiB, by what those were that came last. */
const AHEAD_BYTES_MAX = 67_108_864
/** A worker has nothing to do when it has had free places for so long: what is queued is handed out sooner. */
const FREE_MS = 250

/**
 * How far start() and seeds are read ahead. As a rule until START_LOW_WATER requests wait. But these may all be of hosts that must wait, and
 * what comes after them be of hosts that need not: so while a worker has places that stay free, much more is read.
 */
export class StartAhead {
  readonly #mark: number
  #fullAtMs = performance.now()
  /** Of one request, in bytes. */
  #size = 1

  /** @param mark START_LOW_WATER */
  constructor(mark: number) {
    this.#mark = mark
  }

  /** All places of this worker are taken. */
  full(): void {
    this.#fullAtMs = performance.now()
  }

  /** These were read together. */
  read(requests: readonly Request[]): void {
    let bytes = 0
    for (const request of requests) bytes += bytesOf(request)
    if (requests.length > 0) this.#size = bytes / requests.length
  }

  /** More is read while fewer than `mark` wait, or fewer than `whileHungry` while another worker has nothing to do. */
  get marks(): { readonly mark: number; readonly whileHungry: number } {
    const most = Math.min(this.#mark * AHEAD_SHARE, AHEAD_BYTES_MAX / this.#size)
    const whileHungry = Math.max(this.#mark, most)
    const isFree = performance.now() - this.#fullAtMs >= FREE_MS
    return { mark: isFree ? whileHungry : this.#mark, whileHungry }
  }
}
