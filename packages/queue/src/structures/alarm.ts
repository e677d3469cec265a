import { timerMs } from '@webloom/core'

/**
 * Rings once, at the earliest of the moments it was set to, or a few milliseconds before. Whoever has set it to a later one sets it again
 * when it rings: to set a timer anew for each page costs more than to look once too often.
 */
export class Alarm {
  readonly #onRing: () => void
  #timer: NodeJS.Timeout | undefined
  #atMs = Number.POSITIVE_INFINITY

  constructor(onRing: () => void) {
    this.#onRing = onRing
  }

  /** @param atMs by `performance.now()`; infinity: never */
  set(atMs: number): void {
    if (atMs >= this.#atMs) return
    clearTimeout(this.#timer)
    this.#atMs = atMs
    // Rounded up, as most timers that come early do so by less than a millisecond.
    const inMs = Math.max(1, Math.ceil(atMs - performance.now()))
    this.#timer = setTimeout(() => {
      this.#atMs = Number.POSITIVE_INFINITY
      this.#onRing()
    }, timerMs(inMs))
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#atMs = Number.POSITIVE_INFINITY
  }
}
