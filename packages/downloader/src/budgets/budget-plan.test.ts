import { Settings } from '@webloom/core'
import { expect, test } from 'vitest'
import { budgetPlanOf } from './budget-plan.ts'
import { Days } from './days.ts'

const planOf = (BUDGETS: unknown) =>
  budgetPlanOf(Settings.fromLayers({ command: { BUDGETS: JSON.stringify(BUDGETS) } }))

test('what is not set has no bound, and what happens then has a default', () => {
  expect(planOf({})).toBeUndefined()
  expect(planOf({ day: null })).toBeUndefined()
  expect(planOf({ day: { pages: 5, after: 'stop' }, host: { bytes: 7 }, tz: 'Europe/Berlin' })).toEqual({
    limits: { day: { pages: 5 }, host: { bytes: 7 } },
    after: { crawl: 'stop', day: 'stop', host: 'drop', hostDay: 'wait' },
    tz: 'Europe/Berlin',
  })
})

test.each([
  [{ days: { pages: 5 } }, 'Did you mean day'],
  [{ day: { page: 5 } }, 'Did you mean pages'],
  [{ day: { pages: -1 } }, 'BUDGETS.day.pages is -1; expected a whole number from 1 on'],
  [{ day: { pages: '5' } }, 'BUDGETS.day.pages is "5"'],
  [{ day: 5 }, 'BUDGETS.day is 5; expected an object'],
  [{ crawl: { pages: 5, after: 'wait' } }, 'BUDGETS.crawl.after is "wait"; expected stop'],
  [{ day: { pages: 5 }, tz: 'Mars/Base' }, 'BUDGETS.tz is "Mars/Base"'],
])('%j is refused', (budgets, says) => {
  expect(() => planOf(budgets)).toThrow(says)
  expect(() => planOf(budgets)).toThrow('For example BUDGETS=')
})

test('days begin by the clock of their time zone, also those of 23 and 25 hours', () => {
  const days = new Days('Europe/Berlin')
  const at = (date: string) => {
    const { day, endsAtMs } = days.at(Date.parse(date))
    return [day, new Date(endsAtMs).toISOString()]
  }
  expect(at('2026-10-24T22:30:00Z')).toEqual(['2026-10-25', '2026-10-25T23:00:00.000Z'])
  expect(at('2026-10-25T22:59:59.999Z')).toEqual(['2026-10-25', '2026-10-25T23:00:00.000Z'])
  expect(at('2026-10-25T23:00:00Z')).toEqual(['2026-10-26', '2026-10-26T23:00:00.000Z'])
  expect(at('2027-03-27T23:00:00Z')).toEqual(['2027-03-28', '2027-03-28T22:00:00.000Z'])
  // A clock that was ahead has been put right.
  expect(at('2026-10-25T12:00:00Z')).toEqual(['2026-10-25', '2026-10-25T23:00:00.000Z'])
})

test.each([{ after: 'stop' }, {}])('a budget of %j has no limit, and is refused', (day) => {
  expect(() => planOf({ day })).toThrow('BUDGETS.day has no limit. There are pages,')
})
