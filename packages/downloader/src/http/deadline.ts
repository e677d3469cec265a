/** A timer that can be paused. */
export class Deadline {
  readonly #onEnd: () => void
  #timer: NodeJS.Timeout | undefined
  #endsAtMs = 0
  #leftMs: number

  /** Starts the timer. */
  constructor(afterMs: number, onEnd: () => void) {
    this.#onEnd = onEnd
    this.#leftMs = afterMs
    this.resume()
  }

  pause(): void {
    this.#leftMs = Math.max(0, this.#endsAtMs - performance.now())
    this.clear()
  }

  resume(): void {
    this.#endsAtMs = performance.now() + this.#leftMs
    this.#timer = setTimeout(this.#onEnd, this.#leftMs)
  }

  clear(): void {
    clearTimeout(this.#timer)
  }
}
