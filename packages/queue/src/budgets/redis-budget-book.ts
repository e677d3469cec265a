import type {
  BudgetAsk,
  BudgetBook,
  BudgetKind,
  BudgetLimits,
  BudgetPlan,
  BudgetSpent,
  BudgetTerms,
  BudgetWindow,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { OomSafeScript } from '../redis/oom-safe-script.ts'

// A budget must not end because Redis is full.
const spendScript = new OomSafeScript('budgets/spend.lua')

/** A day is over everywhere on earth after two. */
const DAY_KEPT_S = 3 * 86_400

/** How many fixed keys stand before those of days in KEYS. */
const FIXED_KEYS = 2

export interface RedisBudgetBookOptions {
  /** The queue's; opened and closed by whoever gives it. */
  readonly redis: Redis
  readonly keys: Pick<CrawlRedisKeys, 'record' | 'budgets'>
  readonly limits: BudgetLimits
  /** Noted with the limits, for whoever looks at the crawl from outside. Absent: nothing is noted. */
  readonly terms?: BudgetTerms | undefined
  /** Default: this machine's clock. Of the clocks of several the one that is ahead counts. */
  readonly nowMs?: () => number
}

/**
 * The book of a crawl that workers share, beside its queue. What a run has spent begins anew with each run, and when one that was stopped
 * goes on; what a day has spent stays when the crawl is cleared.
 */
export class RedisBudgetBook implements BudgetBook {
  readonly #redis: Redis
  readonly #keys: RedisBudgetBookOptions['keys']
  readonly #limits: string
  /** Empty: it is not noted. */
  readonly #plan: string
  readonly #nowMs: () => number

  constructor({ redis, keys, limits, terms, nowMs = Date.now }: RedisBudgetBookOptions) {
    this.#redis = redis
    this.#keys = keys
    this.#limits = JSON.stringify(limits)
    this.#plan = terms
      ? JSON.stringify({ limits, after: terms.after, tz: terms.tz } satisfies BudgetPlan)
      : ''
    this.#nowMs = nowMs
  }

  async spend(asks: readonly BudgetAsk[]): Promise<(BudgetSpent | undefined)[]> {
    const days = [...new Set(asks.map(({ day }) => day))]
    const { record, budgets } = this.#keys
    const told = asks.map(({ host, day, pages, bytes, besidesPages }) => [
      host,
      days.indexOf(day) + FIXED_KEYS + 1,
      pages,
      bytes,
      besidesPages ? 1 : 0,
    ])
    const answers = (await spendScript.run(
      this.#redis,
      [record, `${budgets}:run`, ...days.map((day) => `${budgets}:day:${day}`)],
      [this.#limits, JSON.stringify(told), Math.floor(this.#nowMs() / 60_000), DAY_KEPT_S, this.#plan],
    )) as string[]
    return answers.map(spentOf)
  }
}

function spentOf(answer: string): BudgetSpent | undefined {
  if (answer === '') return undefined
  const [window, kind] = answer.split(' ') as [BudgetWindow, BudgetKind]
  return { window, kind }
}
