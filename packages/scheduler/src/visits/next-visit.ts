/**
 * What a visit makes of what was known of its page: the new record, and what is to be told.
 *
 *     page       fetched, and compared with the last one
 *     same       304: the page that is known
 *     gone       404, 410
 *     failed     no answer, or an error
 *     refused    nothing was sent: the page is as it was, and due again before those that are visited now. Were it put off as one that
 *                failed, the pages that wait longest for their host's budget would wait ever longer
 *
 * Only `page` and `same` say how often a page changes. A failure keeps what is known, hash and validators included.
 */

import { type ChangeEvidence, HOUR_MS, type Visit, type VisitMade, type VisitOutcome } from '@webloom/core'
import { NO_EVIDENCE, withVisit } from './intervals/change-evidence.ts'
import { spreadInterval } from './intervals/spread-interval.ts'
import {
  GONE_ANSWERS,
  hoursAfterFailure,
  hoursAfterGone,
  type TroubleBounds,
} from './intervals/troubled-interval.ts'

/** When pages are visited again. */
export interface VisitPlan {
  intervalHours(evidence: ChangeEvidence): number
}

export interface NextVisitOptions {
  readonly plan: VisitPlan
  readonly bounds: TroubleBounds
  /** A number in [0, 1) that is always the same for the page, to spread pages over their time. */
  readonly phase: number
}

// Pages are spread from a half of their first interval on; a run that comes a little earlier, or a plan that has moved, asks for no page.
const EARLY_SHARE = 0.4

export function visitMade(
  previous: Visit | undefined,
  outcome: VisitOutcome,
  options: NextVisitOptions,
): VisitMade {
  if (outcome.kind === 'failed') return afterFailure(previous, outcome, options)
  if (outcome.kind === 'gone') return afterGone(previous, outcome, options)
  if (outcome.kind === 'refused') return afterRefusal(previous, outcome, options)
  return afterPage(previous, outcome, options)
}

function afterPage(
  previous: Visit | undefined,
  outcome: VisitOutcome,
  { plan, phase }: NextVisitOptions,
): VisitMade {
  const { at, kind, callbackVersion } = outcome
  const contentHash = kind === 'same' ? previous?.contentHash : outcome.contentHash
  const isKnown = previous?.contentHash !== undefined
  const differs = kind === 'page' && contentHash !== previous?.contentHash
  // Pipelines have been told that it was gone: its items are wanted again.
  const isBack = (previous?.goneAnswers ?? 0) >= GONE_ANSWERS
  const isOtherCallback = previous !== undefined && previous.callbackVersion !== callbackVersion
  // What another callback takes for the content says nothing of the page.
  const isComparable = isKnown && !(differs && isOtherCallback)
  const evidence = isComparable
    ? evidenceAfter(previous, outcome, differs, plan)
    : (previous?.evidence ?? NO_EVIDENCE)
  const {
    etag,
    lastModifiedAt,
    isOutdated = false,
  } = kind === 'same' ? { ...previous, ...validatorsIn(outcome) } : outcome
  const hours = spreadInterval(plan.intervalHours(evidence), phase, !isKnown)
  return {
    visit: {
      visitedAt: at,
      dueAt: at + hours * HOUR_MS,
      ...(contentHash !== undefined && { contentHash }),
      visits: (previous?.visits ?? 0) + 1,
      changes: (previous?.changes ?? 0) + (isComparable && differs ? 1 : 0),
      evidence,
      failures: 0,
      goneAnswers: 0,
      callbackVersion,
      ...(etag !== undefined && { etag }),
      ...(lastModifiedAt !== undefined && { lastModifiedAt }),
      isOutdated,
    },
    changed: differs || isOtherCallback || isBack,
    isGone: false,
  }
}

/**
 * A page that is visited long before its hour was asked for: by `webloom refresh`, or as a seed. Whoever asks knows that it has changed, so the
 * short gap says nothing of how often it does. Such a change counts as one that was found at the page's hour.
 */
function evidenceAfter(
  previous: Visit,
  { at, changedAt }: VisitOutcome,
  changed: boolean,
  plan: VisitPlan,
): ChangeEvidence {
  // Since when the page was as it was is not known then: the record has the time of the visit that failed.
  if (previous.failures > 0 || previous.goneAnswers > 0) return previous.evidence
  const hours = (at - previous.visitedAt) / HOUR_MS
  if (changedAt !== undefined)
    return withVisit(previous.evidence, { hours, changed, changedHoursAgo: (at - changedAt) / HOUR_MS })
  const planned = changed ? plan.intervalHours(previous.evidence) : 0
  const isEarly = hours < planned * EARLY_SHARE
  return withVisit(previous.evidence, { hours: isEarly ? planned : hours, changed })
}

/** Returns the validators that an answer has; a 304 may bring new ones. */
function validatorsIn({ etag, lastModifiedAt, isOutdated = false }: VisitOutcome): Partial<Visit> {
  return {
    ...(etag !== undefined && { etag }),
    ...(lastModifiedAt !== undefined && { lastModifiedAt }),
    isOutdated,
  }
}

function afterFailure(
  previous: Visit | undefined,
  { at, callbackVersion }: VisitOutcome,
  { bounds }: NextVisitOptions,
): VisitMade {
  const failures = (previous?.failures ?? 0) + 1
  const dueAt = at + hoursAfterFailure(failures, bounds) * HOUR_MS
  const visit = { ...(previous ?? neverSeen(callbackVersion)), visitedAt: at, dueAt, failures }
  return { visit, changed: false, isGone: false }
}

function afterRefusal(
  previous: Visit | undefined,
  { at, callbackVersion }: VisitOutcome,
  { bounds, plan }: NextVisitOptions,
): VisitMade {
  const dueAt = at + hoursAfterFailure(1, bounds) * HOUR_MS
  if (previous) return { visit: { ...previous, dueAt }, changed: false, isGone: false }
  // How many visits all pages ask for is counted from their last ones: this page asks for as many as one of which nothing is known.
  const visitedAt = dueAt - plan.intervalHours(NO_EVIDENCE) * HOUR_MS
  return { visit: { ...neverSeen(callbackVersion), visitedAt, dueAt }, changed: false, isGone: false }
}

function afterGone(
  previous: Visit | undefined,
  { at, callbackVersion }: VisitOutcome,
  { bounds }: NextVisitOptions,
): VisitMade {
  const goneAnswers = (previous?.goneAnswers ?? 0) + 1
  const dueAt = at + hoursAfterGone(goneAnswers, bounds) * HOUR_MS
  const visit = {
    ...(previous ?? neverSeen(callbackVersion)),
    visitedAt: at,
    dueAt,
    goneAnswers,
    failures: 0,
  }
  return { visit, changed: false, isGone: goneAnswers === GONE_ANSWERS }
}

function neverSeen(callbackVersion: number): Visit {
  return {
    visitedAt: 0,
    dueAt: 0,
    visits: 0,
    changes: 0,
    evidence: NO_EVIDENCE,
    failures: 0,
    goneAnswers: 0,
    callbackVersion,
    isOutdated: false,
  }
}
