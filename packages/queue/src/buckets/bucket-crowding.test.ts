/** A host that may be asked for little at a time takes no places that others could have. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type HostPace, type Lease, Request } from '@webloom/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { BucketQueue } from './bucket-queue.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

/** As CONCURRENT_REQUESTS. */
const PLACES = 8
const SLOW = 'slow.test'
const OTHERS = 40
const LEARNED_MS = 500
/** What waits longer than this has waited for the slow host. */
const WAIT_MS_MAX = 2000

const page = (host: string, n: number) => ({
  id: `${host}/${n}`,
  request: new Request(`http://${host}/${n}`),
})
const ofSlow = Array.from({ length: OTHERS }, (_, n) => page(SLOW, n))
const ofOthers = Array.from({ length: OTHERS }, (_, n) => page(`h${n}.test`, 0))
const idsOfOthers = ofOthers.map(({ id }) => id).sort()

async function opened(keys: CrawlRedisKeys, own: Partial<HostPace> = {}): Promise<BucketQueue> {
  const usual = { delayMs: 0, concurrency: 0, randomize: false }
  const queue = new BucketQueue({
    redis: bench.connect(),
    keys,
    workerId: bench.nextWorker(),
    hosts: { namedSlots: [SLOW], pace: (slot) => (slot === SLOW ? { ...usual, ...own } : usual) },
  })
  await queue.open()
  return queue
}

/** Fetches what comes, and keeps what is of the slow host in hand. Returns the ids of the others. */
async function fetchedBeside(queue: BucketQueue): Promise<string[]> {
  const kept: Lease[] = []
  const ids: string[] = []
  while (ids.length < OTHERS) {
    const leases = await queue.lease(PLACES - kept.length, AbortSignal.timeout(WAIT_MS_MAX))
    if (leases.length === 0) break
    for (const lease of leases) lease.started()
    const others = leases.filter(({ id }) => !id.startsWith(SLOW))
    kept.push(...leases.filter((lease) => !others.includes(lease)))
    ids.push(...others.map(({ id }) => id))
    await Promise.all(others.map((lease) => queue.commit(lease)))
  }
  return ids
}

const OWN: readonly [what: string, own: Partial<HostPace>][] = [
  ['one request at once', { concurrency: 1 }],
  ['a delay', { delayMs: 60_000 }],
]

test.each(OWN)(
  'while a host with %s by DOWNLOAD_SLOTS is asked, all other places are for others',
  async (_what, own) => {
    const queue = await opened(bench.nextKeys(), own)
    await queue.push([...ofSlow, ...ofOthers], 'o')
    expect((await fetchedBeside(queue)).sort()).toEqual(idsOfOthers)
    await queue.close()
  },
)

test.each(OWN)(
  'of a host with %s by DOWNLOAD_SLOTS its worker takes no more than may go',
  async (_what, own) => {
    const queue = await opened(bench.nextKeys(), own)
    await queue.push(ofSlow, 'o')
    expect(await queue.lease(PLACES)).toHaveLength(1)
    expect((await queue.counts()).leased).toBe(1)
    await queue.close()
  },
)

/** Of a crawl in which a worker before has learned a delay of the slow host, which is over. */
async function openedAfterLearning(): Promise<BucketQueue> {
  const keys = bench.nextKeys()
  const first = await opened(keys)
  await first.push(ofSlow.slice(0, 1), 'o')
  const [lease] = await first.lease(1)
  lease!.started()
  await first.commit(lease!, { host: { delayMs: LEARNED_MS } })
  await first.close()
  // Waits: until the host may be asked again, so that what is taken of it does not come before its time.
  await sleep(LEARNED_MS)
  return opened(keys)
}

test('so it is with a host of which a worker before has learned a delay', async () => {
  const second = await openedAfterLearning()
  await second.push([...ofSlow.slice(1), ...ofOthers], 'p')
  expect((await fetchedBeside(second)).sort()).toEqual(idsOfOthers)
  await second.close()
})

test('of a host of which a delay was learned a worker that does not know of it takes one request', async () => {
  const second = await openedAfterLearning()
  await second.push(ofSlow.slice(1), 'p')
  expect(await second.lease(PLACES)).toHaveLength(1)
  expect((await second.counts()).leased).toBe(1)
  await second.close()
})

test('of a host that is asked for one page no more than there are places lie at a worker, however slowly its links come', async () => {
  const queue = await opened(bench.nextKeys(), { concurrency: 1 })
  await queue.push(ofSlow.slice(0, 1), 'o')
  const [lease] = await queue.lease(1)
  lease!.started()
  const next = queue.lease(PLACES - 1, AbortSignal.timeout(1000))
  for (const { id, request } of ofSlow.slice(1)) {
    await queue.push([{ id, request }], id)
    // Waits: so that each comes by itself, when none waits.
    await sleep(5)
  }
  expect(await next).toEqual([])
  expect((await queue.counts()).leased).toBeLessThanOrEqual(PLACES + 1)
  await queue.close()
})
