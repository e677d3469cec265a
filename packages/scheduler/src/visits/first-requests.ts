/**
 * What has to be done before pages that are due are visited: a login, so that none of them is visited as a stranger.
 *
 *     start() has not yielded its first requests     due pages wait
 *     one of these has `recrawl: false`              they wait until nothing is queued or under way
 *
 * It knows of start() in this process only. Another worker has cookies of its own, as a rule, and brings due pages when it likes.
 */

import type { QueueCounts, Request } from '@webloom/core'

// A login takes some requests of one host. Due pages wait no longer for a start() that yields nothing, or for requests that never end.
const HELD_MS_MAX = 120_000
const LOOK_EVERY_MS = 1000

export class FirstRequests {
  #isHearing = false
  #isHeld = false
  #isOver = false
  #nextLookMs = 0
  /** Counted from `waitFor`: a crawl may wait for its Redis before. */
  #untilMs = 0

  /** Due pages wait until that is settled. */
  waitFor(heard: Promise<void>): void {
    this.#isHearing = true
    this.#untilMs = performance.now() + HELD_MS_MAX
    void heard.then(() => {
      this.#isHearing = false
    })
  }

  /** Called before requests of start() are queued. */
  queued(requests: readonly (Request | undefined)[]): void {
    if (requests.some((request) => request?.hasMeta && request.meta.recrawl === false)) this.#isHeld = true
  }

  /** Resolves to true while due pages have to wait. */
  async hold(counts: () => Promise<QueueCounts>): Promise<boolean> {
    const now = performance.now()
    if (this.#isOver) return false
    if (now < this.#untilMs) {
      if (this.#isHearing || (this.#isHeld && now < this.#nextLookMs)) return true
      this.#nextLookMs = now + LOOK_EVERY_MS
      if (this.#isHeld && (await isBusy(counts))) return true
    }
    this.#isOver = true
    return false
  }
}

async function isBusy(counts: () => Promise<QueueCounts>): Promise<boolean> {
  const { waiting, delayed, leased } = await counts()
  return waiting + delayed + leased > 0
}
