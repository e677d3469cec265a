// Of the questions within the last second or two, a sixteenth, but not of the first few.
const REFUSED_SHARE = 16
const REFUSED_MIN = 8
// With it four workers of a forwarder that bears 150 and takes 50 ms, so four seconds for 12 000 names, had them in six to seven.
const ROUNDS_FOR_ONE_MORE = 2
const LEAST = 4
const COUNTED_MS = 1000

/**
 * How many names a source may be asked for at once, as TCP finds out what a line bears (RFC 5681): half as many when it was asked for too
 * many, and one more with every few rounds of answers. All times are of one monotonic clock.
 *
 * It was asked for too many when it refuses a sixteenth of the questions, and has an answer now for a name that it had refused. Names of zones
 * that it never answers for, however many, are not refused for their number.
 */
export class LookupWindow {
  readonly #most: number
  #size: number
  #halvedAtMs = Number.NEGATIVE_INFINITY
  #countedFromMs = Number.NEGATIVE_INFINITY
  /** Questions, in this second and in the one before. */
  #begun = [0, 0] as [number, number]
  #refused = [0, 0] as [number, number]

  /** @param most as many as any source bears */
  constructor(most: number) {
    this.#most = most
    this.#size = most
  }

  get size(): number {
    return Math.floor(this.#size)
  }

  begin(nowMs: number): void {
    if (nowMs - this.#countedFromMs > COUNTED_MS) {
      this.#countedFromMs = nowMs
      this.#begun = [0, this.#begun[0]]
      this.#refused = [0, this.#refused[0]]
    }
    this.#begun[0]++
  }

  refused(): void {
    this.#refused[0]++
  }

  answered(): void {
    this.#size = Math.min(this.#most, this.#size + 1 / (ROUNDS_FOR_ONE_MORE * this.#size))
  }

  /**
   * A name was answered that had been refused.
   *
   * @param refusedOfMs when the lookup was begun that was refused
   * @param underWay how many are
   */
  answeredAfterRefusal(refusedOfMs: number, nowMs: number, underWay: number): void {
    // Of those that were under way together only one halves it.
    if (refusedOfMs <= this.#halvedAtMs || !this.#refusesMany()) return
    this.#size = Math.min(this.#most, Math.max(LEAST, Math.min(this.#size, underWay) / 2))
    this.#halvedAtMs = nowMs
    this.#begun = [0, 0]
    this.#refused = [0, 0]
  }

  #refusesMany(): boolean {
    const refused = this.#refused[0] + this.#refused[1]
    return refused >= REFUSED_MIN && refused * REFUSED_SHARE >= this.#begun[0] + this.#begun[1]
  }
}
