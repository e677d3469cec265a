import type { Request, RetryLater } from '@webloom/core'

/**
 * What a page needs, such as its robots.txt, may not leave, as a budget is spent. It concerns the page, which is told in its own name.
 */
export class BudgetRefusal extends Error {
  /** Returns what becomes of a page that waits for it; throws `IgnoreRequest` when the page is dropped. */
  readonly outcomeOf: (page: Request) => RetryLater

  constructor(outcomeOf: (page: Request) => RetryLater) {
    super('a budget is spent (BUDGETS)')
    this.name = 'BudgetRefusal'
    this.outcomeOf = outcomeOf
  }
}
