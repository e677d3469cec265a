/** Hours until a page that could not be fetched is tried again. These pages say nothing of how often they change. */

const FIRST_HOURS = 2

export interface TroubleBounds {
  readonly maxHours: number
}

/**
 * A failed fetch is tried again after two hours, then each time after twice as long: most troubles are over soon, and some never are.
 *
 * @param failures how many visits in a row have failed, this one included
 */
export function hoursAfterFailure(failures: number, { maxHours }: TroubleBounds): number {
  return Math.min(maxHours, FIRST_HOURS * 2 ** (Math.max(1, failures) - 1))
}

/** So many answers in a row that a page is gone (404, 410) are believed: one alone may be a deployment that is under way. */
export const GONE_ANSWERS = 2

/** The first such answer is asked about again soon; a page that is gone is looked at now and then, as some come back. */
export function hoursAfterGone(answers: number, { maxHours }: TroubleBounds): number {
  return answers < GONE_ANSWERS ? Math.min(maxHours, FIRST_HOURS) : maxHours
}
