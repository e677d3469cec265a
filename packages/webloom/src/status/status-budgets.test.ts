import { NOTHING_SPENT } from '@webloom/core'
import { expect, test } from 'vitest'
import { type BudgetSeen, budgetLines } from './status-budgets.ts'

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
