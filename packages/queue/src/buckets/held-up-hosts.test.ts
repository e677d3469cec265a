/** Pages that take long at a worker that has no room left hold up no other hosts of their buckets while another worker has nothing to do. */

import { type Lease, Request } from '@webloom/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { BUCKETS, bucketOf } from '../politeness/bucket-of.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { BucketQueue } from './bucket-queue.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const LONG = 'long.test'
/** Hosts in the bucket of the long page. */
const NEIGHBOURS = Array.from({ length: 20_000 }, (_, n) => `h${n}.test`)
  .filter((host) => bucketOf(host, BUCKETS) === bucketOf(LONG, BUCKETS))
  .slice(0, 30)
/** Well above the second that it takes, and far below the page. */
const ALL_MS_MAX = 10_000

const page = (host: string, n = 0, priority = 0) => ({
  id: `${host}/${n}`,
  request: new Request(`http://${host}/${n}`, { priority }),
})

/** A worker that has the long page and no room for more, and one that has nothing to do. */
async function twoWorkers(concurrency = 2): Promise<{ full: BucketQueue; long: Lease; idle: BucketQueue }> {
  const keys = bench.nextKeys()
  const full = await opened(keys, concurrency)
  await full.push([page(LONG)], 'o')
  const [long] = await full.lease(1)
  long!.started()
  return { full, long: long!, idle: await opened(keys, concurrency) }
}

async function opened(keys: CrawlRedisKeys, concurrency: number): Promise<BucketQueue> {
  const hosts = { pace: () => ({ delayMs: 0, concurrency, randomize: false }) }
  const queue = new BucketQueue({ redis: bench.connect(), keys, workerId: bench.nextWorker(), hosts })
  await queue.open()
  return queue
}

/** Resolves to the next ones, up to so many. */
async function leased(queue: BucketQueue, max: number, withinMs: number): Promise<Lease[]> {
  const signal = AbortSignal.timeout(withinMs)
  for (;;) {
    const leases = await queue.lease(max, signal)
    for (const lease of leases) lease.started()
    if (leases.length > 0 || signal.aborted) return leases
  }
}

async function closed({ full, idle }: { full: BucketQueue; idle: BucketQueue }): Promise<void> {
  expect(await idle.counts()).toMatchObject({ waiting: 0, delayed: 0, leased: 0 })
  await Promise.all([full.close(), idle.close()])
}

test('the other hosts of its bucket go to a worker with nothing to do, the most urgent first', async () => {
  const { full, long, idle } = await twoWorkers()
  const first = leased(idle, 1, ALL_MS_MAX)
  const pushedAtMs = performance.now()
  await full.push(
    NEIGHBOURS.map((host, n) => page(host, 0, n === 17 ? 10 : 0)),
    'p',
  )
  const ids = (await first).map(({ id }) => id)
  expect(ids).toEqual([`${NEIGHBOURS[17]}/0`])
  for (const lease of await first) await idle.commit(lease)
  while (ids.length < NEIGHBOURS.length) {
    const leases = await leased(idle, 4, Math.ceil(pushedAtMs + ALL_MS_MAX - performance.now()))
    if (leases.length === 0) break
    ids.push(...leases.map(({ id }) => id))
    await Promise.all(leases.map((lease) => idle.commit(lease)))
  }
  expect(ids.sort()).toEqual(NEIGHBOURS.map((host) => `${host}/0`).sort())
  await full.commit(long)
  await closed({ full, idle })
})

test('more of its own host goes there, too, no more at once than that may have with it', async () => {
  const { full, long, idle } = await twoWorkers()
  const taking = leased(idle, 8, ALL_MS_MAX)
  await full.push(
    [1, 2, 3].map((n) => page(LONG, n)),
    'p',
  )
  const beside = await taking
  expect(beside.map(({ id }) => id)).toEqual([`${LONG}/1`])
  expect(await leased(idle, 8, 1500), 'the long page counts').toEqual([])
  await full.commit(long)
  const next = await leased(idle, 8, ALL_MS_MAX)
  expect(next.map(({ id }) => id)).toEqual([`${LONG}/2`])
  for (const lease of [...beside, ...next]) await idle.commit(lease)
  for (const lease of await leased(idle, 8, ALL_MS_MAX)) await idle.commit(lease)
  await closed({ full, idle })
})
