// Answers that come sooner wait for the event loop more than for their source.
const PATIENCE_MS_MIN = 100
// Of what is known of the times, so much is kept with each further one (RFC 6298).
const SMOOTHED_KEPT = 7 / 8
const VARIATION_KEPT = 3 / 4
const VARIATIONS = 4

/** How long a source of names takes for its answers, found out as TCP finds out when a packet is lost (RFC 6298). */
export class AnswerTimes {
  readonly #patienceMsMax: number
  #smoothedMs: number | undefined
  #variationMs = 0

  /** @param patienceMsMax what `patienceMs` is at the most, and as long as nothing has been answered */
  constructor(patienceMsMax: number) {
    this.#patienceMsMax = patienceMsMax
  }

  /** One was answered after so long. */
  note(ms: number): void {
    const before = this.#smoothedMs
    if (before === undefined) {
      this.#smoothedMs = ms
      this.#variationMs = ms / 2
      return
    }
    this.#variationMs = VARIATION_KEPT * this.#variationMs + (1 - VARIATION_KEPT) * Math.abs(before - ms)
    this.#smoothedMs = SMOOTHED_KEPT * before + (1 - SMOOTHED_KEPT) * ms
  }

  /** What is not answered after so long takes longer than the others, or is never answered; milliseconds. */
  get patienceMs(): number {
    if (this.#smoothedMs === undefined) return this.#patienceMsMax
    const ms = this.#smoothedMs + VARIATIONS * this.#variationMs
    return Math.min(Math.max(ms, PATIENCE_MS_MIN), this.#patienceMsMax)
  }
}
