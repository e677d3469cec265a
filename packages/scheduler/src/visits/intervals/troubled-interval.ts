/** Hours until a page that could not be fetched, or is gone, is asked for again. These pages say nothing of how often they change. */

const FIRST_HOURS = 2

export interface TroubleBounds {
  /** RECRAWL_INTERVAL. */
  readonly meanHours: number
  readonly maxHours: number
  /** A page that fails is tried again after so many hours at the latest. */
  readonly failedMaxHours: number
}

/** An outage of some weeks must not cost as many after it. */
const FAILED_HOURS_MAX = 7 * 24

/** Returns the longest that a page that fails waits: with RECRAWL=fixed it is promised a visit in each interval, whatever became of the last one. */
export function failedMaxHours(
  kind: 'fixed' | 'adaptive',
  { meanHours, maxHours }: { readonly meanHours: number; readonly maxHours: number },
): number {
  return Math.min(FAILED_HOURS_MAX, kind === 'fixed' ? meanHours : maxHours)
}

/**
 * A failed fetch is tried again after two hours, then each time after twice as long: most troubles are over soon, and some never are.
 *
 * @param failures how many visits in a row have failed, this one included
 */
export function hoursAfterFailure(failures: number, { failedMaxHours }: TroubleBounds): number {
  return Math.min(failedMaxHours, FIRST_HOURS * 2 ** (Math.max(1, failures) - 1))
}

/** So many answers in a row that a page is gone (404, 410) are believed: one alone may be a deployment that is under way. */
export const GONE_ANSWERS = 2

/**
 * The first such answer is asked about again soon. A page that is gone is asked for after RECRAWL_INTERVAL, then each time after twice as long: a
 * site that was broken for some days has its pages back, and most pages that are gone stay so.
 *
 * @param answers how many answers in a row have said so, this one included
 */
export function hoursAfterGone(answers: number, { meanHours, maxHours }: TroubleBounds): number {
  const hours = answers < GONE_ANSWERS ? FIRST_HOURS : meanHours * 2 ** (answers - GONE_ANSWERS)
  return Math.min(maxHours, hours)
}
