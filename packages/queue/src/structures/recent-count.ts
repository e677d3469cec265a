/** How many there were in the stretch of time before this one: about as many are expected in the next one. */
export class RecentCount {
  readonly #stretchMs: number
  #fromMs = Number.NEGATIVE_INFINITY
  #count = 0
  #before = 0

  constructor(stretchMs: number) {
    this.#stretchMs = stretchMs
  }

  add(count: number, nowMs: number): void {
    this.#pass(nowMs)
    this.#count += count
  }

  before(nowMs: number): number {
    this.#pass(nowMs)
    return this.#before
  }

  #pass(nowMs: number): void {
    const sinceMs = nowMs - this.#fromMs
    if (sinceMs < this.#stretchMs) return
    this.#before = sinceMs < 2 * this.#stretchMs ? this.#count : 0
    this.#count = 0
    this.#fromMs = nowMs
  }
}
