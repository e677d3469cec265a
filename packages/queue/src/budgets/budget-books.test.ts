import type { BudgetAsk, BudgetBook } from '@webloom/core'
import { budgetBookContract } from '@webloom/core/contract'
import { tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { clockOf, newJob } from '../../testing/new-job.ts'
import { JobDir } from '../jobdir/job-dir.ts'
import { clearCrawl } from '../outside/crawl-control.ts'
import { MemoryBudgetBook } from './memory-budget-book.ts'
import { RedisBudgetBook } from './redis-budget-book.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const clock = () => {
  let nowMs = 0
  const setClock = (seconds: number) => {
    nowMs = seconds * 1000
  }
  setClock(60)
  return { nowMs: () => nowMs, setClock }
}

budgetBookContract(
  { describe, test },
  {
    name: 'MemoryBudgetBook',
    create: async (limits) => {
      const { nowMs, setClock } = clock()
      const book = new MemoryBudgetBook(limits, nowMs)
      return { one: book, other: book, setClock, dispose: async () => {} }
    },
  },
)
budgetBookContract(
  { describe, test },
  {
    name: 'The budgets of a JOBDIR',
    create: async (limits) => {
      const { nowMs, setClock } = clock()
      const { job, dispose } = await newJob()
      await job.record.open()
      const book = job.budgetBook(limits, nowMs)
      return { one: book, other: book, setClock, dispose }
    },
  },
)
budgetBookContract(
  { describe, test },
  {
    name: 'RedisBudgetBook',
    create: async (limits) => {
      const { nowMs, setClock } = clock()
      const keys = bench.nextKeys()
      const [one, other] = [1, 2].map(
        () => new RedisBudgetBook({ redis: bench.connect(), keys, limits, nowMs }),
      )
      return { one: one!, other: other!, setClock, dispose: async () => {} }
    },
  },
)

const PAGE: BudgetAsk = { host: 'a', day: '2026-11-27', pages: 1, bytes: 0 }
/** How many of so many requests may leave. */
const leaving = async (book: BudgetBook, count: number) =>
  (await book.spend(Array.from({ length: count }, () => PAGE))).filter((spent) => spent === undefined).length

test('on Redis a run has its own, and so has one that goes on after it was stopped; workers that were killed get nothing back', async () => {
  const keys = bench.nextKeys()
  const limits = { crawl: { pages: 3 } }
  const book = () => new RedisBudgetBook({ redis: bench.redis, keys, limits })
  const killed = bench.record(keys, { persists: true })
  await killed.open()
  expect(await leaving(book(), 2)).toBe(2)
  // The killed worker is gone, and another goes on.
  await bench.redis.del(keys.workers)
  const next = bench.record(keys, { persists: true })
  await next.open()
  expect(await leaving(book(), 5)).toBe(1)
  await next.ended('budget_crawl')
  await next.leave()
  const resumed = bench.record(keys, { persists: true })
  await resumed.open()
  expect(await leaving(book(), 5)).toBe(3)
  await bench.redis.hset(keys.record, 'state', 'finished')
  await bench.record(keys, { begins: true }).open()
  expect(await leaving(book(), 5)).toBe(3)
})

test('what a day has spent stays when the crawl is cleared, and goes by itself', async () => {
  const keys = bench.nextKeys()
  const book = new RedisBudgetBook({ redis: bench.redis, keys, limits: { day: { pages: 3 } } })
  expect(await leaving(book, 2)).toBe(2)
  await clearCrawl({ redis: bench.redis, keys, statsKey: bench.statsKey(keys), clear: async () => {} })
  expect(await leaving(book, 2)).toBe(1)
  expect(await bench.redis.ttl(`${keys.budgets}:day:2026-11-27`)).toBeGreaterThan(2 * 86_400)
})

test('in a JOBDIR a process that was killed has spent; one that ends in order begins anew, but for the day', async () => {
  await using dir = await tempDir()
  const open = async () => {
    const job = new JobDir({ folder: dir.path, spiderName: 's', clock: clockOf() })
    await job.record.open()
    return { job, book: job.budgetBook({ crawl: { pages: 3 }, day: { pages: 7 } }) }
  }
  const killed = await open()
  expect(await leaving(killed.book, 2)).toBe(2)
  await killed.job.record.close()
  const next = await open()
  expect(await leaving(next.book, 5)).toBe(1)
  next.book.ended()
  await next.job.record.close()
  const last = await open()
  expect(await leaving(last.book, 5)).toBe(3)
  last.book.ended()
  expect(await leaving(last.book, 5)).toBe(1)
  await last.job.record.close()
})

test('in a JOBDIR the last three days are remembered, by the days that are asked about', async () => {
  await using dir = await tempDir()
  const job = new JobDir({ folder: dir.path, spiderName: 's', clock: clockOf() })
  await job.record.open()
  const limits = { day: { pages: 3 } }
  const spend = (day: string, count: number) =>
    job.budgetBook(limits).spend(Array.from({ length: count }, () => ({ ...PAGE, day })))
  const left = async (day: string) => (await spend(day, 3)).filter((spent) => spent === undefined).length
  for (const day of ['2026-11-27', '2026-11-28']) await spend(day, 2)
  const book = job.budgetBook(limits)
  await book.spend([{ ...PAGE, day: '2026-11-30' }])
  book.ended()
  expect(await left('2026-11-28')).toBe(1)
  expect(await left('2026-11-27'), 'forgotten').toBe(3)
  await job.record.close()
})
