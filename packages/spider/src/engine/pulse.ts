interface Waiting {
  readonly untilMs: number
  readonly wake: () => void
}

/**
 * Wakes those who wait for something to change. Waiting has a deadline; missing a change only costs that long.
 *
 * One timer does for all who wait, as hardly any deadline is reached: it stays when they are woken, and who waits next is
 * looked at when it rings.
 */
export class Pulse {
  #count = 0
  #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined
  #ringsAtMs = Number.POSITIVE_INFINITY

  /** How often it has fired: whoever remembers it can tell whether something changed meanwhile. */
  get count(): number {
    return this.#count
  }

  fire(): void {
    this.#count++
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    // Nobody waits: it must not keep the process alive.
    this.#timer?.unref()
    for (const { wake } of waiting) wake()
  }

  /** Resolves at the next fire, or after `deadlineMs`. */
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
