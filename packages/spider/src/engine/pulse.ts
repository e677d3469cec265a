interface Waiting {
  readonly untilMs: number
  readonly wake: () => void
}

/**
 * Wakes callers that wait for a change. Each wait has a deadline, so a missed change costs no more than that.
 *
 * One timer serves all waits, as hardly any deadline is reached. The timer keeps running when callers are woken, and later
 * waits are checked when it rings.
 */
export class Pulse {
  #count = 0
  #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined
  #ringsAtMs = Number.POSITIVE_INFINITY

  /** How often the pulse has fired, by which a caller can tell whether something changed meanwhile. */
  get count(): number {
    return this.#count
  }

  fire(): void {
    this.#count++
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    // No caller waits, so the timer must not keep the process alive.
    this.#timer?.unref()
    for (const { wake } of waiting) wake()
  }

  /** Resolves when the pulse fires next, or after `deadlineMs`. */
  next(deadlineMs: number): Promise<void> {
    return new Promise((resolve) => {
      const untilMs = performance.now() + deadlineMs
      this.#waiting.push({ untilMs, wake: resolve })
      this.#ringBy(untilMs)
    })
  }

  #ringBy(atMs: number): void {
    if (atMs >= this.#ringsAtMs) {
      this.#timer?.ref()
      return
    }
    clearTimeout(this.#timer)
    this.#ringsAtMs = atMs
    // Timers may fire up to a millisecond early.
    this.#timer = setTimeout(() => this.#ring(), Math.ceil(atMs - performance.now()) + 1)
  }

  #ring(): void {
    this.#ringsAtMs = Number.POSITIVE_INFINITY
    const now = performance.now()
    const due = this.#waiting.filter(({ untilMs }) => untilMs <= now)
    this.#waiting = this.#waiting.filter(({ untilMs }) => untilMs > now)
    if (this.#waiting.length > 0) this.#ringBy(Math.min(...this.#waiting.map(({ untilMs }) => untilMs)))
    for (const { wake } of due) wake()
  }
}
