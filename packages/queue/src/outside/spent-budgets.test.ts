import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { RedisBudgetBook } from '../budgets/redis-budget-book.ts'
import { lastDaySpent, notedBudgets, readSpentBudgets, renewDay } from './spent-budgets.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const NOW = { day: '2026-11-27', nowMs: 600_000 }

test('each window has what its book has spent, and the hosts at their limit', async () => {
  const [redis, keys] = [bench.connect(), bench.nextKeys()]
  const limits = {
    crawl: { pages: 10 },
    day: { pages: 3, bytes: 900 },
    host: { pages: 2 },
    hostDay: { bytes: 50 },
  }
  const read = () => readSpentBudgets(redis, keys, limits, NOW)
  expect((await read()).map(({ spent, kind, hosts }) => [spent?.pages, kind, hosts])).toEqual([
    [0, null, []],
    [0, null, []],
    [undefined, null, []],
    [undefined, null, []],
  ])
  const book = new RedisBudgetBook({ redis, keys, limits, nowMs: () => NOW.nowMs })
  const ask = { day: NOW.day, pages: 1 as const, bytes: 0 }
  await book.spend(['a', 'a', 'b', 'c'].map((host) => ({ ...ask, host })))
  await book.spend([{ ...ask, host: 'b', pages: 0, bytes: 70 }])
  const seen = await read()
  expect(seen).toMatchObject([
    { window: 'crawl', spent: { pages: 3, bytes: 70, minutes: 1 }, kind: null },
    { window: 'day', spent: { pages: 3, bytes: 70 }, kind: 'pages' },
    { window: 'host', spent: null, hosts: [{ host: 'a', kind: 'pages', spent: { pages: 2 } }] },
    { window: 'hostDay', spent: null, hosts: [{ host: 'b', kind: 'bytes', spent: { bytes: 70 } }] },
  ])
  // The next run has spent nothing yet; the day has.
  await redis.hset(keys.record, 'run', 'another')
  expect(await read()).toMatchObject([
    { spent: { pages: 0 } },
    { spent: { pages: 3 } },
    { hosts: [] },
    { hosts: [{ host: 'b' }] },
  ])
})

test('of many hosts at their limit some are named, and it is told that there are more', async () => {
  const [redis, keys] = [bench.connect(), bench.nextKeys()]
  const limits = { host: { pages: 1 } }
  const book = new RedisBudgetBook({ redis, keys, limits })
  await book.spend(
    Array.from({ length: 25 }, (_, n) => ({ host: `h${n}`, day: NOW.day, pages: 1 as const, bytes: 0 })),
  )
  const [seen] = await readSpentBudgets(redis, keys, limits, NOW)
  expect(seen).toMatchObject({ window: 'host', hasMoreHosts: true })
  expect(seen!.hosts).toHaveLength(20)
})

test('what one host has spent of a day is forgotten, or what all have; what the run has spent stays', async () => {
  const [redis, keys] = [bench.connect(), bench.nextKeys()]
  const limits = { crawl: { pages: 10 }, day: { pages: 10 }, hostDay: { pages: 2 } }
  const book = new RedisBudgetBook({ redis, keys, limits, nowMs: () => NOW.nowMs })
  const ask = (host: string) => ({ host, day: NOW.day, pages: 1 as const, bytes: 0 })
  await book.spend(['a', 'a', 'b', 'b'].map(ask))
  const read = async () => {
    const seen = await readSpentBudgets(redis, keys, limits, NOW)
    return seen.map(({ spent, hosts }) => spent?.pages ?? hosts.map(({ host }) => host))
  }
  expect(await read()).toEqual([4, 4, ['a', 'b']])
  expect(await renewDay(redis, keys, { day: NOW.day, host: 'a' })).toBe(2)
  expect(await renewDay(redis, keys, { day: NOW.day, host: 'a' })).toBeUndefined()
  expect(await read()).toEqual([4, 4, ['b']])
  // Of those who renew it at once one has forgotten what was spent.
  const renewed = [redis, redis].map((one) => renewDay(one, keys, { day: NOW.day }))
  expect((await Promise.all(renewed)).toSorted()).toEqual([4, undefined])
  expect(await read()).toEqual([4, 0, []])
  expect(await book.spend([ask('b')])).toEqual([undefined])
})

test('what workers of this run were given is known from outside: what they ask with last, and nothing of an earlier run', async () => {
  const [redis, keys] = [bench.connect(), bench.nextKeys()]
  const terms = {
    after: { crawl: 'stop', day: 'wait', host: 'drop', hostDay: 'wait' },
    tz: 'Asia/Tokyo',
  } as const
  const spendOf = (pages: number) =>
    new RedisBudgetBook({ redis, keys, limits: { day: { pages } }, terms }).spend([
      { host: 'a', day: NOW.day, pages: 1, bytes: 0 },
    ])
  expect(await notedBudgets(redis, keys)).toBe(undefined)
  await spendOf(3)
  expect(await notedBudgets(redis, keys)).toEqual({ limits: { day: { pages: 3 } }, ...terms })
  await spendOf(5)
  expect(await notedBudgets(redis, keys)).toMatchObject({ limits: { day: { pages: 5 } } })
  await redis.hset(keys.record, 'run', 'another')
  expect(await notedBudgets(redis, keys)).toBe(undefined)
})

test('the day that is to be renewed is the last one on which the crawl has spent, by its own clock', async () => {
  const [redis, keys] = [bench.connect(), bench.nextKeys()]
  expect(await lastDaySpent(redis, keys)).toBe(undefined)
  const book = new RedisBudgetBook({ redis, keys, limits: { day: { pages: 9 } }, nowMs: () => NOW.nowMs })
  const ask = (day: string) => ({ host: 'a', day, pages: 1 as const, bytes: 0 })
  await book.spend([ask('2026-11-27'), ask('2026-11-28'), ask('2026-11-27')])
  expect(await lastDaySpent(redis, keys)).toBe('2026-11-28')
  // A run of its own begins, and none of its budgets is touched by that note.
  await redis.hset(keys.record, 'run', 'another')
  await book.spend([ask('2026-11-29')])
  expect(await lastDaySpent(redis, keys)).toBe('2026-11-29')
})
