import { NOTHING_SPENT } from '@webloom/core'
import { expect, test } from 'vitest'
import { type BudgetSeen, budgetLines, type Renewal, renewalText } from './status-budgets.ts'

const seen = (more: Partial<BudgetSeen>): BudgetSeen => ({
  window: 'day',
  limits: { pages: 20_000, bytes: 2048 },
  spent: { ...NOTHING_SPENT, pages: 12, bytes: 1024 },
  kind: null,
  hosts: [],
  hasMoreHosts: false,
  after: 'wait',
  until: null,
  renew: null,
  tz: 'Europe/Berlin',
  ...more,
})
const MIDNIGHT = '2026-11-27T23:00:00.000Z'
const linesOf = (more: Partial<BudgetSeen>) => budgetLines({ budgets: [seen(more)] }).slice(1)

test('without BUDGETS nothing is printed', () => {
  expect(budgetLines({ budgets: [] })).toEqual([])
})

test('what is spent of what may be, and until when requests wait', () => {
  expect(linesOf({})).toEqual(['    day       pages 12 of 20,000 · bytes 1.0 KiB of 2.0 KiB'])
  expect(linesOf({ kind: 'bytes', until: MIDNIGHT })[0]).toMatch(
    / · bytes spent: requests wait until 2026-11-28 00:00 Europe\/Berlin$/,
  )
  expect(linesOf({ kind: 'bytes', until: MIDNIGHT, renew: 'webloom budgets renew shop' }).at(-1)).toBe(
    '    to go on today:  webloom budgets renew shop',
  )
  expect(linesOf({ kind: 'pages', after: 'stop' })[0]).toMatch(/ · pages spent: the crawl ends$/)
})

test('of hosts at their limit ten are printed, and that there are more', () => {
  const hosts = Array.from({ length: 12 }, (_, n) => ({
    host: `h${n}`,
    spent: { ...NOTHING_SPENT, pages: 5 },
    kind: 'pages' as const,
  }))
  const lines = linesOf({ window: 'host', limits: { pages: 5 }, spent: null, hosts, after: 'drop' })
  expect(lines).toHaveLength(12)
  expect(lines.slice(0, 2)).toEqual([
    '    host      each host pages 5 · at their limit, other requests are dropped:',
    '      h0   pages 5 of 5',
  ])
  expect(lines.at(-1)).toBe('      and more')
})

const renewal = (pages: number | undefined, before: BudgetSeen, more: Partial<Renewal> = {}) =>
  renewalText({
    ...{ crawl: 'crawl "shop"', day: '2026-11-27', host: undefined, pages, before: [before] },
    plan: {
      limits: { day: { pages: 5 } },
      after: { crawl: 'stop', day: 'stop', host: 'drop', hostDay: 'drop' },
      tz: 'UTC',
    },
    ...more,
  })

test('a renewal tells that what waits goes on, and of what has ended the crawl that nothing does', () => {
  const waits = seen({ kind: 'pages', until: MIDNIGHT, renew: 'webloom budgets renew shop' })
  expect(renewal(5, waits)).toMatch(
    /^renewed: 5 pages of 2026-11-27 no longer count for crawl "shop"\. Hosts that wait go on within five minutes/,
  )
  expect(renewal(5, seen({ kind: 'pages', after: 'stop' }))).toMatch(
    /\. What was spent has ended the crawl, .* the next run may spend it anew$/,
  )
  expect(renewal(1, seen({}), { host: 'a.example' })).toBe(
    'renewed: 1 page of a.example of 2026-11-27 no longer count for crawl "shop". None of its budgets was spent, so nothing waits for that',
  )
})

test('a renewal of what only each host has counted, and of nothing, says so', () => {
  const hosts = [{ host: 'a.example', spent: { ...NOTHING_SPENT, pages: 5 }, kind: 'pages' as const }]
  expect(renewal(0, seen({ window: 'hostDay', spent: null, hosts, after: 'drop' }))).toMatch(
    /^renewed: what was spent on 2026-11-27 no longer counts for crawl "shop"\. What was spent has ended/,
  )
  expect(renewal(undefined, seen({}))).toBe('nothing to renew: crawl "shop" has spent nothing on 2026-11-27')
  const plan = {
    limits: { crawl: { pages: 5 } },
    after: { crawl: 'stop', day: 'wait', host: 'drop', hostDay: 'wait' },
    tz: 'UTC',
  } as const
  expect(renewal(undefined, seen({ window: 'crawl', kind: 'pages', after: 'stop' }), { plan })).toBe(
    'nothing to renew: a renewal is of what was spent in a day, and BUDGETS of crawl "shop" has neither day nor hostDay',
  )
})
