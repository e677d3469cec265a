/** Elements of start() on their way to Redis. */

import {
  createFingerprinter,
  MemoryStatsCollector,
  Request,
  Signals,
  START_BATCH_MAX,
  silentLogger,
} from '@webloom/core'
import { RedisSetDupeFilter } from '@webloom/dupefilter'
import { BucketQueue, BullJobQueue, crawlRedisKeys, MemoryHostClock } from '@webloom/queue'
import { Scheduler } from '@webloom/scheduler'
import { type RedisServer, startRedis, startTcpProxy } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

const pace = { delayMs: 0, concurrency: 8, randomize: false }

test.each(['turns', 'job'])(
  'QUEUE_MODE=%s: a batch takes a few round trips, not some for each element',
  async (mode) => {
    await using proxy = await startTcpProxy({ target: server.url })
    const redis = new Redis(proxy.url, { maxRetriesPerRequest: null })
    const keys = crawlRedisKeys({ spider: mode, crawlId: null })
    const options = { redis, keys, workerId: 'test:1:a' }
    const queue =
      mode === 'turns'
        ? new BucketQueue({ ...options, hosts: { pace: () => pace } })
        : new BullJobQueue({ ...options, clock: new MemoryHostClock({ pace }) })
    const scheduler = new Scheduler({
      filter: new RedisSetDupeFilter({ redis, key: `${mode}:dupefilter` }),
      queue,
      fingerprinter: createFingerprinter(),
      stats: new MemoryStatsCollector(),
      signals: new Signals(() => {}),
      logger: silentLogger,
      spider: { name: mode },
    })
    await scheduler.open()
    const batch = (from: number) =>
      Array.from({ length: START_BATCH_MAX }, (_, n) => new Request(`http://h${n % 7}.test/${from + n}`))
    await scheduler.enqueueStarts(batch(0), 0)
    proxy.resetCounts()
    expect(await scheduler.enqueueStarts(batch(START_BATCH_MAX), START_BATCH_MAX)).toBe(START_BATCH_MAX)
    expect(proxy.roundTrips).toBeLessThan(30)
    expect(await redis.hget(keys.record, 'startCursor')).toBe(`${2 * START_BATCH_MAX}`)
    // Another worker that runs start() from there, with batches cut elsewhere, brings nothing twice.
    await redis.hset(keys.record, 'startCursor', 2 * START_BATCH_MAX)
    expect(await scheduler.enqueueStarts(batch(START_BATCH_MAX + 9), START_BATCH_MAX + 9)).toBe(9)
    await scheduler.close()
    redis.disconnect()
  },
)

test('what stands twice in a batch is fetched once and counted as filtered at once; nothing is set aside in doubt', async () => {
  const redis = new Redis(server.url, { maxRetriesPerRequest: null })
  const keys = crawlRedisKeys({ spider: 'twice', crawlId: null })
  const stats = new MemoryStatsCollector()
  const scheduler = new Scheduler({
    filter: new RedisSetDupeFilter({ redis, key: 'twice:dupefilter' }),
    queue: new BucketQueue({ redis, keys, workerId: 'test:1:b', hosts: { pace: () => pace } }),
    fingerprinter: createFingerprinter(),
    stats,
    signals: new Signals(() => {}),
    logger: silentLogger,
    spider: { name: 'twice' },
  })
  await scheduler.open()
  const page = (n: number, dontFilter = false) => new Request(`http://h.test/${n}?a=1&b=2`, { dontFilter })
  const again = new Request('http://h.test/1?b=2&a=1')
  const batch = [page(1), undefined, page(2), again, page(1), page(3), page(3, true), page(3, true)]
  expect(await scheduler.enqueueStarts(batch, 0)).toBe(5)
  expect([stats.get('dupefilter/filtered'), stats.get('dupefilter/in_doubt')]).toEqual([2, undefined])
  expect(await redis.hget(keys.record, 'startCursor')).toBe(`${batch.length}`)
  await scheduler.close()
  redis.disconnect()
})
