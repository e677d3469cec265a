import {
  createFingerprinter,
  type Lease,
  MemoryStatsCollector,
  Request,
  Signals,
  silentLogger,
} from '@webloom/core'
import { MemoryDupeFilter } from '@webloom/dupefilter'
import { MemoryHostClock, MemoryRequestQueue } from '@webloom/queue'
import { expect, test } from 'vitest'
import { Scheduler } from './scheduler.ts'

function schedulerUnderTest(logEveryDuplicate = false, make?: (request: Request) => string) {
  const fingerprinter = make ? { name: 'own', fingerprint: make } : createFingerprinter()
  const stats = new MemoryStatsCollector()
  const logged: object[] = []
  const scheduler = new Scheduler({
    filter: new MemoryDupeFilter({ fingerprinter }),
    queue: new MemoryRequestQueue({
      clock: new MemoryHostClock({ pace: { delayMs: 0, concurrency: 0, randomize: false } }),
    }),
    fingerprinter,
    stats,
    signals: new Signals((_, error) => {
      throw error
    }),
    logger: { ...silentLogger, debug: (fields: object | string) => void logged.push(fields as object) },
    spider: { name: 'test' },
    logEveryDuplicate,
  })
  return { scheduler, stats, logged }
}

const page = (n: number, init = {}) => new Request(`https://example.com/${n}`, init)

test('what was met before is dropped and counted, the rest is queued in order', async () => {
  const { scheduler, stats } = schedulerUnderTest()
  expect(await scheduler.enqueue([page(1), page(2), page(1)], 'start/0')).toBe(2)
  expect(await scheduler.enqueue([page(2), page(3)], 'start/1')).toBe(1)
  expect(stats.get('dupefilter/filtered')).toBe(2)
  expect(stats.get('scheduler/enqueued')).toBe(3)
  const leases = await scheduler.next(10)
  expect(leases.map(({ request }) => request.url)).toEqual([1, 2, 3].map((n) => `https://example.com/${n}`))
  expect(stats.get('scheduler/dequeued/memory')).toBe(3)
})

test('a start request goes past the filter and leaves its mark there', async () => {
  const { scheduler } = schedulerUnderTest()
  expect(await scheduler.enqueueStart(page(1, { dontFilter: true }), 'start/0')).toBe(1)
  expect(await scheduler.enqueueStart(page(1, { dontFilter: true }), 'start/1')).toBe(1)
  expect(await scheduler.enqueue([page(1)], 'page'), 'a link back to it').toBe(0)
})

test('a link with dontFilter goes past the filter and leaves no mark, as in Scrapy', async () => {
  const { scheduler } = schedulerUnderTest()
  await scheduler.enqueueStart(page(1, { dontFilter: true }), 'start/0')
  const [start] = await scheduler.next(1)
  await scheduler.commit(start as Lease, [page(2, { dontFilter: true }), page(2)])
  expect((await scheduler.counts()).waiting).toBe(2)
})

test('ids are derived: the fingerprint, or the place where an unfiltered request was found', async () => {
  const { scheduler } = schedulerUnderTest()
  await scheduler.enqueueStart(page(1, { dontFilter: true }), 'start/7')
  const [start] = await scheduler.next(1)
  expect(start?.id).toBe('start/7/page')
  await scheduler.commit(start as Lease, [
    page(2),
    page(2, { dontFilter: true }),
    page(2, { dontFilter: true }),
  ])
  const children = await scheduler.next(10)
  expect(children[0]?.id).toBe(createFingerprinter().fingerprint(page(2)))
  expect(new Set(children.map(({ id }) => id)).size).toBe(3)
})

test('links of a page that runs again before it is committed are told new again', async () => {
  const { scheduler } = schedulerUnderTest()
  await scheduler.enqueue([page(1)], 'start/0')
  const [first] = await scheduler.next(1)
  await scheduler.release(first as Lease)
  const [again] = await scheduler.next(1)
  await scheduler.commit(again as Lease, [page(2)])
  expect((await scheduler.counts()).waiting).toBe(1)
})

test('the first duplicate is logged, and with DUPEFILTER_DEBUG every one', async () => {
  for (const [logEveryDuplicate, lines] of [
    [false, 1],
    [true, 3],
  ] as const) {
    const { scheduler, logged } = schedulerUnderTest(logEveryDuplicate)
    await scheduler.enqueue([page(1), page(1), page(1), page(1)], 'start/0')
    expect(logged).toHaveLength(lines)
  }
})

test('a FINGERPRINTER that throws for one request costs that request only', async () => {
  const { scheduler, stats } = schedulerUnderTest(false, (request) => {
    if (request.url.endsWith('/2')) throw new Error('not this one')
    return request.url
  })
  expect(await scheduler.enqueue([page(1), page(2), page(3)], 'page')).toBe(2)
  expect(stats.get('scheduler/no_fingerprint_count')).toBe(1)
})
