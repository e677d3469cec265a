/** What is ordered for a host while requests of it wait in Redis, lie at a worker, or are in flight. */

import { type HostOrder, Request } from '@webloom/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench, until } from '../../testing/crawl-bench.ts'
import { leased } from '../../testing/leased.ts'
import { readSlot } from '../outside/bucket-slots.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { BucketQueue } from './bucket-queue.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const page = (host: string, n: number, priority = 0) => ({
  id: `${host}/${n}`,
  request: new Request(`http://${host}.test/${n}`, { priority }),
})
const pages = (host: string, count: number) => Array.from({ length: count }, (_, n) => page(host, n))

async function opened(keys: CrawlRedisKeys, delayMs = 0): Promise<BucketQueue> {
  const queue = new BucketQueue({
    redis: bench.connect(),
    keys,
    workerId: bench.nextWorker(),
    hosts: { pace: () => ({ delayMs, concurrency: 5, randomize: false }) },
  })
  await queue.open()
  return queue
}

let at = 0
const orders = (host: string, order: Omit<HostOrder, 'at'>) =>
  new Map([[`${host}.test`, { at: ++at, ...order }]])

/** Ends the next lease as a page without links. */
async function fetched(queue: BucketQueue): Promise<string> {
  return (await fetchedAtOnce(queue, 1))[0]!
}

/** The same of so many at once, or of those that may go. */
async function fetchedAtOnce(queue: BucketQueue, max: number): Promise<string[]> {
  let leases = await queue.lease(max)
  while (leases.length === 0) leases = await queue.lease(max)
  for (const lease of leases) lease.started()
  await Promise.all(leases.map((lease) => queue.commit(lease)))
  return leases.map(({ id }) => id)
}

test.each([1, 5, 100])(
  'a host of which %i wait is paused, and goes on when the pause is taken back',
  async (count) => {
    const keys = bench.nextKeys()
    const queue = await opened(keys)
    await queue.push(pages('a', count), 'o')
    await queue.steer(orders('a', { pauseMs: 60_000 }))
    await queue.push([page('b', 1)], 'p')
    expect(await fetched(queue)).toBe('b/1')
    const none = queue.lease(1, AbortSignal.timeout(700))
    expect(await none).toEqual([])
    expect((await readSlot(bench.redis, keys, 'a.test')).pausedMs).toBeGreaterThan(50_000)
    expect((await readSlot(bench.redis, keys, 'a.test')).pauseReason).toBe('paused by hand')
    const next = queue.lease(1)
    await queue.steer(new Map())
    const [lease] = await next
    expect(lease!.id).toBe('a/0')
    await queue.close()
  },
)

test('a worker that comes later keeps to a pause, and one that had taken requests of the host ahead gives them back', async () => {
  const keys = bench.nextKeys()
  const [first, second] = [await opened(keys), await opened(keys)]
  await first.push([...pages('a', 5), ...pages('b', 5)], 'o')
  expect(await fetched(first)).toMatch(/^[ab]\/0$/)
  const order = orders('a', { pauseMs: 60_000 })
  await Promise.all([first.steer(order), second.steer(order)])
  const ids: string[] = []
  for (let n = 0; n < 4; n++) ids.push(await fetched(first))
  expect(ids.every((id) => id.startsWith('b/'))).toBe(true)
  await Promise.all([first.close(), second.close()])
  expect((await readSlot(bench.redis, keys, 'a.test')).leased).toBe(0)
})

test('a delay that is ordered holds from the last start on, and one that is shorter than what the host asked for counts, too', async () => {
  const queue = await opened(bench.nextKeys())
  await queue.push(pages('a', 10), 'o')
  const [lease] = await leased(queue, 1)
  lease!.started()
  await queue.commit(lease!, { host: { delayMs: 60_000 } })
  await queue.steer(orders('a', { delayMs: 300 }))
  const begunAt = performance.now()
  for (let n = 0; n < 3; n++) await fetched(queue)
  const passedMs = performance.now() - begunAt
  expect(passedMs).toBeGreaterThan(590)
  expect(passedMs).toBeLessThan(20_000)
  await queue.close()
})

test.each([1, 5, 100])(
  'a boosted host of which %i wait goes before others, and no more when that is taken back',
  async (count) => {
    const keys = bench.nextKeys()
    const queue = await opened(keys)
    const many = Array.from({ length: 50 }, (_, n) => page(`many${n}`, 1, 5))
    await queue.push(many, 'o')
    await queue.push(pages('a', count), 'p')
    await queue.steer(orders('a', { isBoosted: true }))
    // Turns that others hold already may have something at hand.
    const ids: string[] = []
    while (ids.length < 15) ids.push(...(await fetchedAtOnce(queue, 5)))
    expect(ids.filter((id) => id.startsWith('a/')).length).toBeGreaterThanOrEqual(Math.min(count, 5))
    await queue.push([page('a', 1000)], 'q')
    await queue.steer(new Map())
    await until(async () => (await readSlot(bench.redis, keys, 'a.test')).leased === 0, 5000)
    const after: string[] = []
    while (after.length < 30) after.push(await fetched(queue))
    expect(after.filter((id) => id.startsWith('a/')).length).toBeLessThanOrEqual(2)
    await queue.close()
  },
)

test('requests of a host keep their order, and how urgent they are beside each other, while it is boosted and afterwards', async () => {
  const queue = await opened(bench.nextKeys())
  await queue.push(
    [0, 3, -1, 3, 0].map((priority, n) => page('a', n, priority)),
    'o',
  )
  await queue.steer(orders('a', { isBoosted: true }))
  const ids = [await fetched(queue), await fetched(queue)]
  await queue.steer(new Map())
  for (let n = 0; n < 3; n++) ids.push(await fetched(queue))
  expect(ids).toEqual(['a/1', 'a/3', 'a/0', 'a/4', 'a/2'])
  await queue.close()
})

test('an order that Redis could not be told is told by the next call', async () => {
  const keys = bench.nextKeys()
  const redis = bench.connect()
  const queue = new BucketQueue({
    redis,
    keys,
    workerId: bench.nextWorker(),
    hosts: { pace: () => ({ delayMs: 0, concurrency: 1, randomize: false }) },
  })
  await queue.open()
  await queue.push(pages('a', 3), 'o')
  const order = orders('a', { pauseMs: 60_000 })
  redis.disconnect()
  await expect(queue.steer(order)).rejects.toThrow()
  await redis.connect()
  await queue.steer(order)
  expect((await readSlot(bench.redis, keys, 'a.test')).pausedMs).toBeGreaterThan(0)
  await queue.close()
})
