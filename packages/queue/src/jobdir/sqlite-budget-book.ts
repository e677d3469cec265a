import {
  type BudgetAsk,
  type BudgetBook,
  type BudgetLimits,
  type BudgetSpent,
  NOTHING_SPENT,
  type Spent,
  type SpentStore,
  spendIn,
} from '@webloom/core'
import type { JobDatabase } from './job-database.ts'

/**
 * The book of a crawl in its JOBDIR. A process that is killed takes nothing of it with it; what a run has spent begins anew when one
 * that was stopped goes on.
 */
export class SqliteBudgetBook implements BudgetBook {
  readonly #database: JobDatabase
  readonly #limits: BudgetLimits
  readonly #nowMs: () => number
  readonly #store: SpentStore
  #hasTable = false
  /** The latest that was asked about. */
  #day = ''

  /** @param database opened and closed by the crawl's record */
  constructor({
    database,
    limits,
    nowMs = Date.now,
  }: {
    database: JobDatabase
    limits: BudgetLimits
    nowMs?: () => number
  }) {
    this.#database = database
    this.#limits = limits
    this.#nowMs = nowMs
    this.#store = {
      read: (place) => {
        const row = database.get<Spent>(
          'SELECT pages, bytes, minutes, minute FROM budgets WHERE place = ?',
          place,
        )
        return row ?? NOTHING_SPENT
      },
      write: (place, { pages, bytes, minutes, minute }) => {
        database.run(
          'INSERT OR REPLACE INTO budgets (place, pages, bytes, minutes, minute) VALUES (?, ?, ?, ?, ?)',
          ...[place, pages, bytes, minutes, minute],
        )
      },
    }
  }

  spend(asks: readonly BudgetAsk[]): (BudgetSpent | undefined)[] {
    this.#makeTable()
    let answers: (BudgetSpent | undefined)[] = []
    for (const { day } of asks) if (day > this.#day) this.#day = day
    this.#database.atomically(() => {
      answers = asks.map((ask) => spendIn(this.#store, this.#limits, ask, this.#nowMs()))
    })
    return answers
  }

  /** The process ends in order: what goes on spends anew, but for the day. By the days that were asked about, as these are of a time zone of their own. */
  ended(): void {
    if (!this.#hasTable) return
    this.#database.run(
      "DELETE FROM budgets WHERE place = 'run' OR place LIKE 'run %' OR place < date(?, '-2 days')",
      this.#day,
    )
  }

  /** Folders of earlier releases have none. */
  #makeTable(): void {
    if (this.#hasTable) return
    this.#database.run(
      'CREATE TABLE IF NOT EXISTS budgets (place TEXT PRIMARY KEY, pages INTEGER NOT NULL, bytes INTEGER NOT NULL, minutes INTEGER NOT NULL, minute INTEGER NOT NULL) WITHOUT ROWID',
    )
    this.#hasTable = true
  }
}
