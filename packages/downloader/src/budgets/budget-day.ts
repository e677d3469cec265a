import { Days } from './days.ts'

/** Returns which day of its budgets a crawl has, and when the next one begins, by the clock of `tz`. */
export function budgetDay(tz: string, nowMs: number): { readonly day: string; readonly endsAtMs: number } {
  return new Days(tz).at(nowMs)
}
