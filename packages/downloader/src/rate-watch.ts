/**
 * Finds out that an answer only drips.
 *
 * Time is cut into windows from `start` on, and each must bring its share of bytes. An answer's headers bring none that
 * are seen here: they must be complete within one window.
 */
export class RateWatch {
  readonly #bytesMin: number
  readonly #windowMs: number
  readonly #onSlow: () => void
  #timer: NodeJS.Timeout | undefined
  #bytes = 0

  /** @param bytesPerSecondMin 0: nothing is watched */
  constructor(bytesPerSecondMin: number, windowMs: number, onSlow: () => void) {
    this.#bytesMin = (bytesPerSecondMin * windowMs) / 1000
    this.#windowMs = windowMs
    this.#onSlow = onSlow
  }

  /** A window begins now. */
  start(): void {
    if (this.#bytesMin === 0) return
    this.stop()
    this.#bytes = 0
    const timer = setTimeout(() => setImmediate(() => this.#windowEnds(timer)), this.#windowMs)
    this.#timer = timer
  }

  count(bytes: number): void {
    this.#bytes += bytes
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  // After what has arrived meanwhile was read, which may have ended the window: a process that was busy all the time
  // must not blame the server.
  #windowEnds(timer: NodeJS.Timeout): void {
    if (this.#timer !== timer) return
    if (this.#bytes < this.#bytesMin) this.#onSlow()
    else this.start()
  }
}
