/** How many rejected requests are remembered. Older ones this worker may take again before another worker has tried them. */
const REMEMBERED_MAX = 10_000

/**
 * Remembers which requests this worker has rejected, so that other workers get them first. A worker of an older release is
 * idle more often than newer ones, and would otherwise be the first to take again what it cannot do.
 */
export class LeftToOthers {
  readonly #othersFirstMs: number
  /** By request id: until when the request is left to others; Infinity until it comes again. */
  readonly #untilMs = new Map<string, number>()

  /** @param othersFirstMs how long others have the first try at what comes again */
  constructor(othersFirstMs: number) {
    this.#othersFirstMs = othersFirstMs
  }

  rejected(id: string): void {
    this.#untilMs.delete(id)
    this.#untilMs.set(id, Number.POSITIVE_INFINITY)
    if (this.#untilMs.size > REMEMBERED_MAX) this.#untilMs.delete(this.#untilMs.keys().next().value!)
  }

  /**
   * For a request that was handed to this worker: how many milliseconds it must still be left to others; 0 when this worker is to
   * try it.
   */
  waitMs(id: string): number {
    const untilMs = this.#untilMs.get(id)
    if (untilMs === undefined) return 0
    const nowMs = performance.now()
    if (untilMs <= nowMs) {
      this.#untilMs.delete(id)
      return 0
    }
    if (untilMs < Number.POSITIVE_INFINITY) return untilMs - nowMs
    this.#untilMs.set(id, nowMs + this.#othersFirstMs)
    return this.#othersFirstMs
  }
}
