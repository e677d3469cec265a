/** A worker whose places are all taken, and for which enough lies ready, takes the buckets that nobody has all the same. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Lease, Request } from '@webloom/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { BUCKETS, bucketOf } from '../politeness/bucket-of.ts'
import { BucketQueue } from './bucket-queue.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

/** Of pages that do not end. What lies ready is an eighth of them: enough for the places that become free. */
const LONG = 60
const SHORT = 2
const PAGE_MS = 60
const NAMES = Array.from({ length: 20_000 }, (_, n) => `h${n}.test`)
/** Of one bucket. */
const HELD = NAMES.filter((host) => bucketOf(host, BUCKETS) === bucketOf(NAMES[0]!, BUCKETS)).slice(0, 70)
const ELSEWHERE = NAMES.find((host) => bucketOf(host, BUCKETS) !== bucketOf(NAMES[0]!, BUCKETS))!

const page = (host: string, n: number, priority = 0) => ({
  id: `${host}/${n}`,
  request: new Request(`http://${host}/${n}`, { priority }),
})

test('an urgent request in a bucket that nobody has begins within two seconds', async () => {
  const hosts = { pace: () => ({ delayMs: 0, concurrency: 8, randomize: false }) }
  const queue = new BucketQueue({
    redis: bench.connect(),
    keys: bench.nextKeys(),
    workerId: bench.nextWorker(),
    hosts,
  })
  await queue.open()
  for (let n = 0; n < 20; n++)
    await queue.push(
      HELD.map((host) => page(host, n)),
      `o${n}`,
    )
  const long: Lease[] = []
  while (long.length < LONG) long.push(...(await queue.lease(LONG - long.length)))
  for (const lease of long) lease.started()
  const closing = new AbortController()
  const begun = Promise.withResolvers<number>()
  const committing: Promise<unknown>[] = []
  const places = Array.from({ length: SHORT }, async (_, place) => {
    // Waits: so that the pages do not end together.
    await sleep((place * PAGE_MS) / SHORT)
    while (!closing.signal.aborted) {
      for (const lease of await queue.lease(1, closing.signal)) {
        lease.started()
        if (lease.id.startsWith(`${ELSEWHERE}/`)) begun.resolve(performance.now())
        // Waits: as long as a page takes.
        await sleep(PAGE_MS)
        committing.push(queue.commit(lease))
      }
    }
  })
  // Waits: until enough lies ready.
  await sleep(1000)
  const pushedAtMs = performance.now()
  await queue.push([page(ELSEWHERE, 0, 10)], 'urgent')
  // Waits: longer than it may take.
  const begunAtMs = await Promise.race([begun.promise, sleep(10_000).then(() => Number.POSITIVE_INFINITY)])
  closing.abort()
  await Promise.all(places)
  await Promise.all([...committing, ...long.map((lease) => queue.commit(lease))])
  await queue.close()
  expect(begunAtMs - pushedAtMs).toBeLessThan(2000)
}, 60_000)
