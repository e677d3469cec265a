/** So many refusals are remembered; of earlier ones others are not given the first try. */
const REMEMBERED_MAX = 10_000

/**
 * What this worker has refused, so that others go first when it comes again: a worker of an older release is idle more often
 * than the newer ones, and would otherwise be the first to take back what it cannot do.
 */
export class LeftToOthers {
  readonly #othersFirstMs: number
  /** By id: until when it is left to others; Infinity until it comes again. */
  readonly #untilMs = new Map<string, number>()

  /** @param othersFirstMs how long others have the first try at what comes again */
  constructor(othersFirstMs: number) {
    this.#othersFirstMs = othersFirstMs
  }

  refused(id: string): void {
    this.#untilMs.delete(id)
    this.#untilMs.set(id, Number.POSITIVE_INFINITY)
    if (this.#untilMs.size > REMEMBERED_MAX) this.#untilMs.delete(this.#untilMs.keys().next().value!)
  }

  /** It was handed to this worker: for how many milliseconds it must be left to others; 0 when this worker is to try. */
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
