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

/** Has a page of the slow host in hand, the only one that may be out, as links for that host come one by one. */
async function whileLinksCome(
  own: Partial<HostPace>,
  then: (queue: BucketQueue, first: Lease, next: Promise<Lease[]>) => Promise<void>,
) {
  const queue = await opened(bench.nextKeys(), own)
  await queue.push(ofSlow.slice(0, 1), 'o')
  const [first] = await queue.lease(1)
  first!.started()
  const next = queue.lease(PLACES - 1, AbortSignal.timeout(2 * WAIT_MS_MAX))
  for (const { id, request } of ofSlow.slice(1)) {
    await queue.push([{ id, request }], id)
    // Waits: so that each comes by itself, when none waits.
    await sleep(5)
  }
  await then(queue, first!, next)
  await queue.close()
}

test.each(OWN)(
  'links to a host with %s fill no worker while that is out: two lie there, and others go at once',
  (_what, own) =>
    whileLinksCome(own, async (queue, first, next) => {
      // As well as the page in hand.
      expect((await queue.counts()).leased).toBeLessThanOrEqual(3)
      await queue.push(ofOthers.slice(0, 1), 'other')
      const others = await next
      expect(others.map(({ id }) => id)).toEqual(idsOfOthers.slice(0, 1))
      await Promise.all([...others, first].map((lease) => queue.commit(lease)))
    }),
)

test('what waits behind these goes by its priority, and all of it', () =>
  whileLinksCome({ concurrency: 1 }, async (queue, first, next) => {
    const urgent = { id: `${SLOW}/urgent`, request: new Request(`http://${SLOW}/urgent`, { priority: 10 }) }
    await queue.push([urgent], 'urgent')
    const ids: string[] = []
    await queue.commit(first)
    for (let leases = await next; leases.length > 0; ) {
      for (const lease of leases) {
        lease.started()
        ids.push(lease.id)
        await queue.commit(lease)
      }
      leases = ids.length < OTHERS ? await queue.lease(PLACES, AbortSignal.timeout(WAIT_MS_MAX)) : []
    }
    expect(ids.indexOf(urgent.id)).toBeLessThanOrEqual(2)
    expect(ids.sort()).toEqual([...ofSlow.slice(1).map(({ id }) => id), urgent.id].sort())
  }))

/** One request at once and host, so that each host that has more is asked in its turn. */
const IN_TURN: HostPace = { delayMs: 0, concurrency: 1, randomize: false }
const MANY = 60
const PAGES_EACH = 30

async function openedInTurn(keys = bench.nextKeys()): Promise<BucketQueue> {
  const hosts = { pace: () => IN_TURN }
  const queue = new BucketQueue({ redis: bench.connect(), keys, workerId: bench.nextWorker(), hosts })
  await queue.open()
  return queue
}

async function filledInTurn(keys?: CrawlRedisKeys): Promise<BucketQueue> {
  const queue = await openedInTurn(keys)
  const pages = Array.from({ length: MANY * PAGES_EACH }, (_, n) =>
    page(`h${n % MANY}.test`, Math.floor(n / MANY)),
  )
  await queue.push(pages, 'o')
  return queue
}

async function fetchedOne(queue: BucketQueue): Promise<string> {
  const [lease] = await queue.lease(1)
  lease!.started()
  await queue.commit(lease!)
  return new URL(lease!.request.url).hostname
}

test('a worker with one place and more than it can fetch comes to all hosts', async () => {
  const queue = await filledInTurn()
  const met = new Set<string>()
  for (let n = 0; n < 4 * MANY; n++) met.add(await fetchedOne(queue))
  expect(met.size).toBe(MANY)
  await queue.close()
})

test('what is more urgent goes next, in buckets that nobody has, too', async () => {
  const queue = await filledInTurn()
  for (let n = 0; n < MANY; n++) await fetchedOne(queue)
  const fresh = Array.from({ length: 10 }, (_, n) => `fresh${n}.test`)
  await queue.push(
    fresh.map((host) => ({ id: host, request: new Request(`http://${host}/`, { priority: 10 }) })),
    'urgent',
  )
  const awaited = new Set(fresh)
  for (let n = 0; n < 2 * MANY && awaited.size > 0; n++) awaited.delete(await fetchedOne(queue))
  expect([...awaited]).toEqual([])
  await queue.close()
})

test('what another worker brings for a host that a worker has goes before all that is less urgent', async () => {
  const keys = bench.nextKeys()
  const queue = await filledInTurn(keys)
  let host = ''
  for (let n = 0; n < 2 * MANY; n++) host = await fetchedOne(queue)
  const other = await openedInTurn(keys)
  // The host whose turn has just been: without a word it would be asked after all others.
  await other.push([{ id: 'urgent', request: new Request(`http://${host}/urgent`, { priority: 10 }) }], 'p')
  let others = 0
  for (let next = await fetchedOne(queue); next !== host; next = await fetchedOne(queue)) others++
  expect(others).toBeLessThan(MANY / 4)
  await Promise.all([queue.close(), other.close()])
})
