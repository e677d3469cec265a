/**
 * What the visits of one page have shown of how often it changes, in four numbers, however many visits there were.
 *
 * A visit sees *that* a page has changed since the visit before, not how often. So hours without a change say much, and a change after a
 * long gap says little: a page that is seen to change every week may do so hourly. Changes that the page dates itself (Last-Modified) say
 * most: they tell how long ago the last one was.
 *
 * For a page that changes at random, `rate` times an hour on average, the evidence has the likelihood
 *
 *     e^(−rate · still) · (1 − e^(−rate · gap))^seen · rate^dated        gap: geometric mean of the gaps of `seen`
 *
 * The one gap in place of all costs nothing that can be measured (docs/decisions/visits.md), and saves keeping them.
 */

import type { ChangeEvidence } from '@webloom/core'

export const NO_EVIDENCE: ChangeEvidence = { stillHours: 0, seen: 0, gapLogs: 0, dated: 0 }

/** What one more visit has shown. */
export interface VisitShown {
  /** Hours since the visit before. */
  readonly hours: number
  readonly changed: boolean
  /** How many hours ago the page says that it changed last; absent: it does not say, or is not believed. */
  readonly changedHoursAgo?: number
}

// Two visits in a minute tell nothing, and a logarithm of 0 would tell too much.
const HOURS_MIN = 1 / 60
// So that a page that begins to behave otherwise is believed after some tens of visits.
const VISITS_REMEMBERED = 50

export function withVisit(evidence: ChangeEvidence, shown: VisitShown): ChangeEvidence {
  const before = faded(evidence)
  const hours = Math.max(shown.hours, HOURS_MIN)
  if (!shown.changed) return { ...before, stillHours: before.stillHours + hours }
  const { changedHoursAgo: ago } = shown
  if (ago !== undefined && ago >= 0 && ago <= hours)
    return { ...before, stillHours: before.stillHours + ago, dated: before.dated + 1 }
  return { ...before, seen: before.seen + 1, gapLogs: before.gapLogs + Math.log(hours) }
}

/** The hours without a change fade with the changes, or a page would seem to change less and less. */
function faded(evidence: ChangeEvidence): ChangeEvidence {
  const share = 1 - 1 / VISITS_REMEMBERED
  return {
    stillHours: evidence.stillHours * share,
    seen: evidence.seen * share,
    gapLogs: evidence.gapLogs * share,
    dated: evidence.dated * share,
  }
}

/** The natural logarithm of how likely the evidence is for a page that changes so many times an hour. */
export function logLikelihood({ stillHours, seen, gapLogs, dated }: ChangeEvidence, rate: number): number {
  let log = -rate * stillHours
  if (seen > 0) log += seen * Math.log(-Math.expm1(-rate * Math.exp(gapLogs / seen)))
  if (dated > 0) log += dated * Math.log(rate)
  return log
}
