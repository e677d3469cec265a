/** A wait that has begun. */
export interface BegunWait {
  readonly atMs: number
  /** Whether it began a moment ago, and has not ended. */
  isFresh: boolean
}

/**
 * Counts the waits that began a moment ago and have not ended. A line of small objects: a Map of them costs three
 * microseconds a wait, as each entry comes and goes.
 */
export class FreshWaits {
  /** In the order in which they began. What has ended stays until it is at the head. */
  readonly #begun: BegunWait[] = []
  #count = 0

  begin(nowMs: number): BegunWait {
    const wait = { atMs: nowMs, isFresh: true }
    this.#begun.push(wait)
    this.#count++
    return wait
  }

  end(wait: BegunWait): void {
    if (wait.isFresh) this.#count--
    wait.isFresh = false
  }

  /** @param freshMs how long a moment is; what was older once is not counted again */
  count(nowMs: number, freshMs: number): number {
    for (let oldest = this.#begun[0]; oldest; oldest = this.#begun[0]) {
      if (oldest.isFresh && nowMs - oldest.atMs < freshMs) break
      this.end(oldest)
      this.#begun.shift()
    }
    return this.#count
  }
}
