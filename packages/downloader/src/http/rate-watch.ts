/**
 * Detects an answer that only drips.
 *
 * Time is cut into windows from `start` on, and each window must bring its share of bytes. Bytes of headers are not seen
 * here: the headers must be complete within one window.
 */
export class RateWatch {
  readonly #clock: RateClock
  readonly #onSlow: () => void
  #startedAtMs = 0
  #bytes = 0
  /** The watch's index in the clock's list; -1: it is in none. */
  place = -1

  constructor(clock: RateClock, onSlow: () => void) {
    this.#clock = clock
    this.#onSlow = onSlow
  }

  get startedAtMs(): number {
    return this.#startedAtMs
  }

  /** Begins a window. */
  start(): void {
    this.#bytes = 0
    this.#startedAtMs = performance.now()
    this.#clock.watch(this)
  }

  count(bytes: number): void {
    this.#bytes += bytes
  }

  stop(): void {
    this.#clock.leave(this)
  }

  /** Called by the clock at the end of a window. */
  ended(bytesMin: number): void {
    if (this.#bytes < bytesMin) this.#onSlow()
    else this.start()
  }
}

/**
 * Tells the watches of all answers when their windows end. One timer serves them all, as hardly any answer lasts as long as
 * a window. It looks often enough that no window is more than a twentieth too long.
 */
export class RateClock {
  readonly #bytesMin: number
  readonly #windowMs: number
  // A list in which each watch knows its index: a Set costs several times as much for each answer.
  readonly #watches: RateWatch[] = []
  #timer: NodeJS.Timeout | undefined

  /** @param bytesPerSecondMin 0: no answer is watched */
  constructor(bytesPerSecondMin: number, windowMs: number) {
    this.#bytesMin = (bytesPerSecondMin * windowMs) / 1000
    this.#windowMs = windowMs
  }

  watch(watch: RateWatch): void {
    if (this.#bytesMin === 0 || watch.place >= 0) return
    watch.place = this.#watches.push(watch) - 1
    // The download's own deadline keeps the process alive.
    this.#timer ??= setInterval(() => this.#look(), this.#windowMs / LOOKS_PER_WINDOW).unref()
  }

  leave(watch: RateWatch): void {
    if (watch.place < 0) return
    const last = this.#watches.pop()!
    if (last !== watch) {
      this.#watches[watch.place] = last
      last.place = watch.place
    }
    watch.place = -1
  }

  #look(): void {
    if (this.#watches.length === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    const now = performance.now()
    for (const watch of this.#watches) {
      const { startedAtMs } = watch
      if (now - startedAtMs >= this.#windowMs) setImmediate(() => this.#windowEnds(watch, startedAtMs))
    }
  }

  // Runs after the data that has arrived meanwhile was read, which may have ended the window: a process that was busy all
  // the time must not blame the server.
  #windowEnds(watch: RateWatch, startedAtMs: number): void {
    if (watch.place >= 0 && watch.startedAtMs === startedAtMs) watch.ended(this.#bytesMin)
  }
}

const LOOKS_PER_WINDOW = 20
