/**
 * How far the dates of a host's sitemaps are believed: as far as they proved true.
 *
 * A `lastmod` behind the last visit says that the page has changed since, one before it that it has not; the next visit shows whether that
 * was so. The two are counted apart: many sites write today's date beside each page, and those that do are right whenever a page has
 * changed, and only then.
 */

import type { DateRecord } from '@webloom/core'

export const NO_LASTMOD: DateRecord = { changedRight: 0, changedWrong: 0, sameRight: 0, sameWrong: 0 }

/** What a date says of a page, and what is to follow from it. */
export type LastmodAdvice = 'visit now' | 'wait longer' | 'no advice'

const FADE = 0.98
// To visit a page in vain costs a visit; to leave it, its change.
const CHANGED_TRUST = 0.5
const SAME_TRUST = 0.9
const SAME_PROOFS_MIN = 10

/** Adds what a visit has shown of the date that was known before it. */
export function withLastmod(record: DateRecord, saidChanged: boolean, changed: boolean): DateRecord {
  const faded = {
    changedRight: record.changedRight * FADE,
    changedWrong: record.changedWrong * FADE,
    sameRight: record.sameRight * FADE,
    sameWrong: record.sameWrong * FADE,
  }
  const field = saidChanged
    ? changed
      ? 'changedRight'
      : 'changedWrong'
    : changed
      ? 'sameWrong'
      : 'sameRight'
  return { ...faded, [field]: faded[field] + 1 }
}

/** Returns how often the host's word that a page had changed was put to the test. */
export function changeProofs({ changedRight, changedWrong }: DateRecord): number {
  return changedRight + changedWrong
}

/** @param saidChanged the page has changed since its last visit, by its date */
export function lastmodAdvice(record: DateRecord, saidChanged: boolean): LastmodAdvice {
  const { changedRight, changedWrong, sameRight, sameWrong } = record
  if (saidChanged) {
    // Nothing is known yet: it is believed, which shows at once whether that was right.
    const trust = (changedRight + 1) / (changedRight + changedWrong + 1)
    return trust >= CHANGED_TRUST ? 'visit now' : 'no advice'
  }
  const proofs = sameRight + sameWrong
  return proofs >= SAME_PROOFS_MIN && sameRight / proofs >= SAME_TRUST ? 'wait longer' : 'no advice'
}

/** Returns whether a host's dates tell when its pages have changed: they then count as evidence (`changedHoursAgo`). */
export function datesAreEvidence({ changedRight, changedWrong, sameRight, sameWrong }: DateRecord): boolean {
  const right = changedRight + sameRight
  const all = right + changedWrong + sameWrong
  return changedRight >= 2 && right / all >= SAME_TRUST
}
