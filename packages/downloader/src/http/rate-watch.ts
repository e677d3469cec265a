/**
 * Finds out that an answer only drips.
 *
 * Time is cut into windows from `start` on, and each must bring its share of bytes. An answer's headers bring none that
 * are seen here: they must be complete within one window.
 */
export class RateWatch {
  readonly #clock: RateClock
  readonly #onSlow: () => void
  #startedAtMs = 0
  #bytes = 0
  /** Where the clock has it; -1: nowhere. */
  place = -1

  constructor(clock: RateClock, onSlow: () => void) {
    this.#clock = clock
    this.#onSlow = onSlow
  }

  get startedAtMs(): number {
    return this.#startedAtMs
  }

  /** A window begins now. */
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

  /** For the clock: the window is over. */
  ended(bytesMin: number): void {
    if (this.#bytes < bytesMin) this.#onSlow()
    else this.start()
  }
}

/**
 * Tells the watches of all answers that their windows are over: one timer for them all, as hardly any answer lasts as long
 * as a window. It looks often enough for a window to be no more than a twentieth too long.
 */
export class RateClock {
  readonly #bytesMin: number
  readonly #windowMs: number
  // A list in which each knows its place: a Set costs several times as much for each answer.
  readonly #watches: RateWatch[] = []
  #timer: NodeJS.Timeout | undefined

  /** @param bytesPerSecondMin 0: nothing is watched */
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

  // After what has arrived meanwhile was read, which may have ended the window: a process that was busy all the time
  // must not blame the server.
  #windowEnds(watch: RateWatch, startedAtMs: number): void {
    if (watch.place >= 0 && watch.startedAtMs === startedAtMs) watch.ended(this.#bytesMin)
  }
}

const LOOKS_PER_WINDOW = 20
