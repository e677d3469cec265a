import {
  type BudgetAsk,
  type BudgetBook,
  type BudgetLimits,
  type BudgetSpent,
  NOTHING_SPENT,
  type Spent,
  spendIn,
} from '@webloom/core'

/** The book of a crawl in one process, which ends with it. What earlier days have spent is of no use to anybody. */
export class MemoryBudgetBook implements BudgetBook {
  readonly #limits: BudgetLimits
  readonly #nowMs: () => number
  readonly #spent = new Map<string, Spent>()
  #day = ''

  constructor(limits: BudgetLimits, nowMs: () => number = Date.now) {
    this.#limits = limits
    this.#nowMs = nowMs
  }

  spend(asks: readonly BudgetAsk[]): (BudgetSpent | undefined)[] {
    return asks.map((ask) => {
      if (ask.day !== this.#day) this.#begin(ask.day)
      return spendIn(
        {
          read: (place) => this.#spent.get(place) ?? NOTHING_SPENT,
          write: (place, spent) => void this.#spent.set(place, spent),
        },
        this.#limits,
        ask,
        this.#nowMs(),
      )
    })
  }

  #begin(day: string): void {
    this.#day = day
    for (const place of this.#spent.keys())
      if (place !== 'run' && !place.startsWith('run ')) this.#spent.delete(place)
  }
}
