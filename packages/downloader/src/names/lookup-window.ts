// A quarter of the questions, but not of the first few. One name in twenty that is refused five times is a fifth of them.
const REFUSED_SHARE = 4
const REFUSED_MIN = 4
// Four workers of a forwarder that bears 150 and takes 50 ms, so four seconds for 12 000 names, had them in five to eight; with four rounds in nine to ten.
const ROUNDS_FOR_ONE_MORE = 2
const MOMENT_MS = 1000
const TOO_LARGE_MS = 5000

/**
 * How many names a source may be asked for at once, as TCP finds out what a line bears (RFC 5681). When it refuses a quarter of what it
 * was asked within a second, half as many from then on; with every few rounds of answers, one more. All times are of one monotonic clock.
 */
export class LookupWindow {
  readonly #most: number
  #size: number
  #halvedAtMs = Number.NEGATIVE_INFINITY
  #countedFromMs = Number.NEGATIVE_INFINITY
  #begun = 0
  #refused = 0

  /** @param most as many as any source bears */
  constructor(most: number) {
    this.#most = most
    this.#size = most
  }

  get size(): number {
    return Math.floor(this.#size)
  }

  begin(nowMs: number): void {
    if (nowMs - this.#countedFromMs > MOMENT_MS) this.#countFrom(nowMs)
    this.#begun++
  }

  answered(): void {
    this.#size = Math.min(this.#most, this.#size + 1 / (ROUNDS_FOR_ONE_MORE * this.#size))
  }

  /**
   * @param begunAtMs when the lookup was begun that was refused
   * @param underWay how many are
   */
  refused(begunAtMs: number, nowMs: number, underWay: number): void {
    // Of those that were under way together only one halves it, and of a few it is not their number that is refused.
    if (begunAtMs <= this.#halvedAtMs || underWay < this.#size / 2) return
    this.#refused++
    if (this.#refused < REFUSED_MIN || this.#refused * REFUSED_SHARE < this.#begun) return
    this.#size = Math.max(1, this.#size / 2)
    this.#halvedAtMs = nowMs
    this.#countFrom(nowMs)
  }

  /** Returns whether the source was asked for too much within the last five seconds, so that a refusal tells little of the name. */
  wasTooLarge(nowMs: number): boolean {
    return nowMs - this.#halvedAtMs <= TOO_LARGE_MS
  }

  #countFrom(nowMs: number): void {
    this.#countedFromMs = nowMs
    this.#begun = 0
    this.#refused = 0
  }
}
