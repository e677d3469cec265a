import { fingerprint, Request, type Visit, type VisitedPage } from '@webloom/core'
import { expect, test } from 'vitest'
import { MemoryVisits } from './memory-visits.ts'

const VISIT: Visit = {
  visitedAt: Date.UTC(2026, 0, 1),
  dueAt: Date.UTC(2026, 0, 2),
  visits: 1,
  changes: 0,
  evidence: { stillHours: 24, seen: 0, gapLogs: 0, dated: 0 },
  failures: 0,
  goneAnswers: 0,
  callbackVersion: 1,
  isOutdated: false,
}

test('what a look at due pages takes does not grow with how many are due', async () => {
  let looks = 0
  const pages = Array.from({ length: 5000 }, (_, n): VisitedPage => {
    const request = new Request(`https://shop.example/${n}`)
    return {
      ...{ fingerprint: fingerprint(request), request },
      get visit() {
        looks++
        return VISIT
      },
    }
  })
  const visits = new MemoryVisits()
  await visits.record(pages)
  looks = 0
  let taken = 0
  for (;;) {
    const due = await visits.due(VISIT.dueAt, 50)
    if (due.read === 0) break
    taken += visits.takeDue(due).length
  }
  expect(taken).toBe(pages.length)
  expect(looks).toBeLessThan(10 * pages.length)
})
