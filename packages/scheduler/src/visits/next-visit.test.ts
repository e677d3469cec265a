import { isNeverVisited, type Visit, type VisitMade, type VisitOutcome } from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { AdaptivePlan } from './intervals/adaptive-plan.ts'
import { visitMade } from './next-visit.ts'

const DAY = 24 * 3_600_000
const START = Date.UTC(2026, 0, 1)
const options = {
  plan: { intervalHours: () => 24 },
  bounds: { meanHours: 24, maxHours: 720, failedMaxHours: 168 },
  phase: 0,
}

/** Visits a page once a day. */
function visits(...outcomes: Partial<VisitOutcome>[]): VisitMade {
  let made: VisitMade | undefined
  outcomes.forEach((outcome, day) => {
    const at = START + day * DAY
    made = visitMade(
      made?.visit,
      { at, kind: 'page', contentHash: 'a', callbackVersion: 1, ...outcome },
      options,
    )
  })
  return made!
}
const dueAfter = ({ visit }: { visit: Visit }) => (visit.dueAt - visit.visitedAt) / 3_600_000

describe('what a visit makes of a page', () => {
  test('the first visit finds a new page, and nothing of how often it changes', () => {
    const made = visits({})
    expect(made).toMatchObject({
      changed: true,
      isGone: false,
      visit: { visits: 1, changes: 0, contentHash: 'a' },
    })
    expect(made.visit.evidence).toEqual({ stillHours: 0, seen: 0, gapLogs: 0, dated: 0 })
    expect(dueAfter(made)).toBe(24)
  })

  test('the same content is no change, another one is', () => {
    expect(visits({}, {})).toMatchObject({
      changed: false,
      visit: { changes: 0, evidence: { stillHours: 24 } },
    })
    const changed = visits({}, { contentHash: 'b' })
    expect(changed).toMatchObject({ changed: true, visit: { changes: 1, evidence: { seen: 1 } } })
  })

  test('a 304 keeps hash and validators, and takes those that it brings', () => {
    const made = visits({ etag: '"1"', lastModifiedAt: START }, { kind: 'same' })
    expect(made).toMatchObject({
      changed: false,
      visit: { contentHash: 'a', etag: '"1"', lastModifiedAt: START },
    })
    expect(visits({ etag: '"1"' }, { kind: 'same', etag: '"2"' }).visit.etag).toBe('"2"')
  })

  test('a page that has no validators any more is not asked for by its old ones', () => {
    expect(visits({ etag: '"1"' }, {}).visit).not.toHaveProperty('etag')
  })

  test('a date that is believed says when a page has changed', () => {
    const { evidence } = visits({}, { contentHash: 'b', changedAt: START + DAY - 3_600_000 }).visit
    expect(evidence).toMatchObject({ dated: 1, seen: 0, stillHours: 1 })
  })

  test.each([24, 168])(
    'a page that has changed just before it was asked for is not put off, at a mean of %i hours',
    (meanHours) => {
      const plan = new AdaptivePlan({ meanHours, minHours: 1, maxHours: 1440 })
      const at = START + 4 * 60_000
      const before = visits({}).visit
      const [same, other] = ['a', 'b'].map((contentHash) =>
        visitMade(before, { at, kind: 'page', contentHash, callbackVersion: 1 }, { ...options, plan }),
      )
      expect(other).toMatchObject({ changed: true, visit: { changes: 1, evidence: { seen: 1 } } })
      expect(dueAfter(other!)).toBeLessThan(1.1 * dueAfter(same!))
    },
  )

  test('a page asked for before its hour that has not changed was still only so long', () => {
    const before = visits({}).visit
    const early = { at: START + 3_600_000, kind: 'page', contentHash: 'a', callbackVersion: 1 } as const
    expect(visitMade(before, early, options).visit.evidence).toMatchObject({ stillHours: 1, seen: 0 })
  })

  test('another callback makes a page count as changed, and its hash as no evidence', () => {
    const made = visits({}, { contentHash: 'b', callbackVersion: 2 })
    expect(made).toMatchObject({
      changed: true,
      visit: { changes: 0, evidence: { seen: 0 }, contentHash: 'b' },
    })
    expect(visits({}, { kind: 'same', callbackVersion: 2 }).changed).toBe(true)
    expect(visits({}, { callbackVersion: 2 }, { callbackVersion: 2 }).changed).toBe(false)
  })

  test('a failure keeps what is known, and is tried again after two hours, then after longer', () => {
    const once = visits({ etag: '"1"' }, { kind: 'failed' })
    expect(once).toMatchObject({ changed: false, visit: { contentHash: 'a', etag: '"1"', failures: 1 } })
    expect(dueAfter(once)).toBe(2)
    expect(dueAfter(visits({}, { kind: 'failed' }, { kind: 'failed' }))).toBe(4)
    expect(visits({}, { kind: 'failed' }, {}).visit.failures).toBe(0)
  })

  test('a change behind a failure is counted, and says nothing of how often the page changes', () => {
    const made = visits({}, { kind: 'failed' }, { contentHash: 'b' })
    expect(made).toMatchObject({ changed: true, visit: { changes: 1, evidence: { seen: 0, stillHours: 0 } } })
  })

  test('a page is told to be gone with the second answer, and only then', () => {
    const gone = { kind: 'gone' } as const
    const told = [1, 2, 3].map((times) => visits({}, ...Array(times).fill(gone)).isGone)
    expect(told).toEqual([false, true, false])
    expect(visits({}, gone, {}, gone)).toMatchObject({ isGone: false, visit: { goneAnswers: 1 } })
  })

  test('a page that is gone is asked for at the interval of the crawl, then at longer ones', () => {
    const gone = { kind: 'gone' } as const
    const hours = Array.from({ length: 20 }, (_, n) => dueAfter(visits({}, ...Array(n + 1).fill(gone))))
    expect(hours.slice(0, 8)).toEqual([2, 24, 48, 96, 192, 384, 720, 720])
    expect(new Set(hours.slice(8))).toEqual(new Set([720]))
  })

  test('a page that is back counts as changed when it was told to be gone, and not after one such answer', () => {
    const gone = { kind: 'gone' } as const
    const back = { goneAnswers: 0, changes: 0 }
    expect(visits({}, gone, {})).toMatchObject({ changed: false, visit: back })
    expect(visits({}, gone, gone, {})).toMatchObject({ changed: true, visit: back })
  })

  test('a page that was not asked for is as it was, and due again soon, however often that happens', () => {
    const before = visits({}, {})
    const refused = visitMade(
      before.visit,
      { at: START + 3 * DAY, kind: 'refused', callbackVersion: 1 },
      options,
    )
    expect(refused).toEqual({
      visit: { ...before.visit, dueAt: START + 3 * DAY + 2 * 3_600_000 },
      changed: false,
      isGone: false,
    })
  })

  test('a page that was not asked for before its first visit is due as soon, and counts in the plan as any new page', () => {
    const made = visitMade(undefined, { at: START, kind: 'refused', callbackVersion: 1 }, options)
    expect(isNeverVisited(made.visit)).toBe(true)
    expect(made.visit.dueAt).toBe(START + 2 * 3_600_000)
    expect(dueAfter(made)).toBe(24)
    expect(isNeverVisited(visits({ kind: 'failed' }).visit)).toBe(false)
  })

  test('a page that no visit has brought yet is tried again, too', () => {
    const made = visits({ kind: 'failed' })
    expect(made.visit).toMatchObject({ failures: 1, visits: 0 })
    expect(dueAfter(made)).toBe(2)
  })
})
