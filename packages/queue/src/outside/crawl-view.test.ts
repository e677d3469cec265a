import { hostname } from 'node:os'
import type { HostView, Lease } from '@webloom/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BucketBench, page, pages } from '../../testing/bucket-bench.ts'
import { CrawlBench, until } from '../../testing/crawl-bench.ts'
import { pauseCrawl } from './crawl-control.ts'
import { readCrawl } from './crawl-view.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test('a crawl of which nothing is known is idle', async () => {
  const keys = bench.nextKeys()
  const crawl = await readCrawl({ redis: bench.redis, keys, statsKey: bench.statsKey(keys) })
  expect(crawl).toMatchObject({ state: 'idle', begunAt: null, workers: [], stats: {}, hosts: [] })
  expect(crawl.counts).toEqual({ waiting: 0, delayed: 0, leased: 0, quarantined: 0 })
})

test('a running crawl shows its workers, what they do and how fast, its counts and its stats', async () => {
  const keys = bench.nextKeys()
  const worker = await bench.join(keys)
  const silent = bench.record(keys, { workerId: 'lost:1:1' })
  await silent.open()
  await bench.unheardFor(60_000, keys, 'lost:1:1')
  await worker.record.takeStart(new AbortController().signal)
  await worker.record.startMoved(0, 3)
  await pauseCrawl({ redis: bench.redis, keys })
  await bench.redis.hset(keys.frontierCounts, { waiting: 7, delayed: 2, leased: 1 })
  await bench.redis.hset(keys.quarantine, 'poison', '{}')
  worker.stats.inc('response_received_count', 600)
  // Whoever asks makes them be written every second.
  worker.heartbeat.stat('response_received_count')
  const host: HostView = {
    slot: 'example.com',
    waiting: 7,
    delayed: 2,
    leased: 1,
    nextInMs: 0,
    delayMs: 500,
    failures: 3,
    pausedMs: 60_000,
    pauseReason: 'Retry-After',
  }
  const read = () =>
    readCrawl({
      redis: bench.redis,
      keys,
      statsKey: bench.statsKey(keys),
      hosts: async () => [host],
    })
  await until(async () => (await read()).pagesPerMinute > 0, 15_000)
  const crawl = await read()
  expect(crawl).toMatchObject({
    state: 'running',
    paused: true,
    run: worker.record.run.id,
    finishReason: null,
    start: { cursor: 3, ended: false, worker: worker.workerId },
    counts: { waiting: 7, delayed: 2, leased: 1, quarantined: 1 },
    stats: { response_received_count: 600 },
    hosts: [host],
  })
  const present = {
    id: worker.workerId,
    host: hostname(),
    pid: process.pid,
    lost: false,
    downloading: 2,
    pages: 600,
  }
  expect(crawl.workers).toEqual([
    expect.objectContaining(present),
    expect.objectContaining({ id: 'lost:1:1', lost: true }),
  ])
  expect(JSON.parse(JSON.stringify(crawl)).begunAt).toBe(new Date(worker.record.run.begunAt).toISOString())
})

test('in QUEUE_MODE=job the counts are those of BullMQ’s jobs', async () => {
  const keys = bench.nextKeys()
  const list = (name: string) => `webloom:${keys.queueName}:${name}`
  await bench.redis.lpush(list('wait'), 'a')
  await bench.redis.zadd(list('prioritized'), 1, 'b', 2, 'c')
  await bench.redis.zadd(list('delayed'), 1, 'd')
  await bench.redis.lpush(list('active'), 'e', 'f')
  const { counts } = await readCrawl({ redis: bench.redis, keys, statsKey: bench.statsKey(keys) })
  expect(counts).toEqual({ waiting: 3, delayed: 1, leased: 2, quarantined: 0 })
})

test('what is done is counted once: not what is tried again or given back', async () => {
  const buckets = new BucketBench()
  await buckets.start()
  const keys = buckets.nextKeys()
  const seen = () => readCrawl({ redis: buckets.redis, keys, statsKey: `${keys.queueName}:stats` })
  await buckets.redis.hset(keys.record, { run: 'r', state: 'running', done: 0 })
  const queue = await buckets.queue({ keys })
  await queue.push(pages('a', 3), 'o')
  const [first, second, third] = await leasesOf(queue, 3)
  await queue.retry(first!, page('a', 0).request, 0)
  await queue.requeue(second!)
  await queue.commit(third!, { children: [page('a', 'link')] })
  expect((await seen()).done).toBe(1)
  const left = await leasesOf(queue, 3)
  const [gone, ...others] = left
  for (const lease of others) await queue.commit(lease)
  expect(await seen()).toMatchObject({ done: 3, counts: { leased: 1 } })
  await queue.commit(gone!, {
    failure: {
      reason: 'status',
      kind: 'HttpError',
      message: 'status 404',
      status: 404,
      signature: 'status-404',
    },
  })
  expect(await seen()).toMatchObject({ done: 4, counts: { waiting: 0, leased: 0 } })
  await buckets.stop()
})

async function leasesOf(queue: Awaited<ReturnType<BucketBench['queue']>>, count: number): Promise<Lease[]> {
  const leases: Lease[] = []
  while (leases.length < count) leases.push(...(await queue.lease(count - leases.length)))
  return leases
}
