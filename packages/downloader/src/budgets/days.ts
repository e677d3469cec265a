export interface Day {
  /** As 2026-11-27. */
  readonly day: string
  /** Milliseconds since 1970. */
  readonly endsAtMs: number
}

/** Which day it is in a time zone, and when the next one begins. */
export class Days {
  readonly #format: Intl.DateTimeFormat
  #day = ''
  /** The earliest moment that is known to be in this day. */
  #sinceMs = 0
  #endsAtMs = 0

  constructor(tz: string) {
    this.#format = new Intl.DateTimeFormat('sv-SE', { timeZone: tz, dateStyle: 'short' })
  }

  /** @param nowMs milliseconds since 1970 */
  at(nowMs: number): Day {
    // A clock may be put back, too.
    if (nowMs >= this.#endsAtMs || nowMs < this.#sinceMs) {
      this.#day = this.#format.format(nowMs)
      this.#sinceMs = nowMs
      this.#endsAtMs = this.#endOf(this.#day, nowMs)
    }
    return { day: this.#day, endsAtMs: this.#endsAtMs }
  }

  /** The longest day has 25 hours. */
  #endOf(day: string, nowMs: number): number {
    let [during, after] = [nowMs, nowMs + 26 * 3_600_000]
    while (after - during > 1) {
      const middle = Math.floor((during + after) / 2)
      if (this.#format.format(middle) === day) during = middle
      else after = middle
    }
    return after
  }
}

/** Returns which day of its budgets a crawl has, and when the next one begins, by the clock of `tz`. */
export function budgetDay(tz: string, nowMs: number): Day {
  return new Days(tz).at(nowMs)
}
