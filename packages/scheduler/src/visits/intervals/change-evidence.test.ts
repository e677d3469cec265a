import type { ChangeEvidence } from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { logLikelihood, NO_EVIDENCE, type VisitShown, withVisit } from './change-evidence.ts'
import { EVEN_SHARES, RATES, ratesOf } from './rate-mix.ts'

const after = (...visits: VisitShown[]): ChangeEvidence => visits.reduce(withVisit, NO_EVIDENCE)
const times = (count: number, shown: VisitShown): VisitShown[] => Array(count).fill(shown)

/** Hours between two changes that are likeliest. */
function likeliestHours(evidence: ChangeEvidence): number {
  const shares = ratesOf(evidence, EVEN_SHARES)
  return 1 / RATES[shares.indexOf(Math.max(...shares))]!
}

describe('what visits show of how often a page changes', () => {
  test('a page that never was seen to change is likeliest one that changes least', () => {
    expect(likeliestHours(after(...times(10, { hours: 24, changed: false })))).toBeCloseTo(8760)
  })

  test('a page that has changed in half of the days changes about as often as that', () => {
    const visits = times(10, { hours: 24, changed: true }).flatMap((shown) => [
      shown,
      { ...shown, changed: false },
    ])
    // Half of the gaps see a change at 24 / ln 2 hours between two.
    expect(likeliestHours(after(...visits))).toBeGreaterThan(24 / Math.LN2 / 2.2)
    expect(likeliestHours(after(...visits))).toBeLessThan((24 / Math.LN2) * 2.2)
  })

  test('a change in each of many long gaps says only that the page is not slow', () => {
    const evidence = after(...times(10, { hours: 240, changed: true }))
    const [hourly, daily, monthly] = [1, 1 / 24, 1 / 720].map((rate) => logLikelihood(evidence, rate))
    expect(hourly! - daily!).toBeLessThan(0.001)
    expect(daily! - monthly!).toBeGreaterThan(5)
  })

  test('pages that say when they changed show at once how often they do', () => {
    const evidence = after(...times(3, { hours: 240, changed: true, changedHoursAgo: 1 }))
    expect(likeliestHours(evidence)).toBeLessThan(3)
  })

  test('a change that a page dates before the last visit, or in the future, is one of unknown time', () => {
    for (const changedHoursAgo of [25, -1])
      expect(after({ hours: 24, changed: true, changedHoursAgo })).toEqual(
        after({ hours: 24, changed: true }),
      )
  })

  test('a page that begins to change is believed after some visits, however long it was still', () => {
    const still = times(500, { hours: 24, changed: false })
    const changing = times(60, { hours: 24, changed: true })
    expect(likeliestHours(after(...still))).toBeGreaterThan(2000)
    expect(likeliestHours(after(...still, ...changing))).toBeLessThan(48)
  })

  test('two visits at the same moment do no harm', () => {
    const evidence = after({ hours: 0, changed: true }, { hours: 0, changed: false })
    for (const rate of RATES) expect(logLikelihood(evidence, rate)).toBeGreaterThan(Number.NEGATIVE_INFINITY)
  })
})
