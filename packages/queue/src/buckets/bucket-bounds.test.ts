/** What a worker bears of requests that may not go keeps no others from it. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type HostPace, type Lease, Request } from '@webloom/core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { BucketQueue } from './bucket-queue.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

/** What waits longer than this has waited for the hosts that are full, which never answer meanwhile: megabytes go back in less, on busy cores too. */
const WAIT_MS_MAX = 10_000
/** In so long a worker that wants requests takes what it bears. */
const TAKEN_MS = 1000
/** More than a worker bears: 8 MiB lie there at the most, or 1000 requests. */
const BIG_BYTES = 1_000_000
const FULL_HOSTS = 520

async function opened(pace: Partial<HostPace>): Promise<BucketQueue> {
  const hosts = { pace: () => ({ delayMs: 0, concurrency: 1, randomize: false, ...pace }) }
  const queue = new BucketQueue({
    redis: bench.connect(),
    keys: bench.nextKeys(),
    workerId: bench.nextWorker(),
    hosts,
  })
  await queue.open()
  return queue
}

const page = (host: string, n: number | string, body = '') => ({
  id: `${host}/${n}`,
  request: new Request(`http://${host}/${n}`, body === '' ? {} : { method: 'POST', body }),
})

async function leasedAll(queue: BucketQueue, count: number): Promise<Lease[]> {
  const leases: Lease[] = []
  while (leases.length < count) leases.push(...(await queue.lease(count - leases.length)))
  for (const lease of leases) lease.started()
  return leases
}

/** Pushes a page of another host, and expects it to be leased soon, with that many places free. */
async function othersGo(queue: BucketQueue, places: number): Promise<void> {
  const other = page('other.test', 0)
  await queue.push([other], 'other')
  const isLate = AbortSignal.timeout(WAIT_MS_MAX)
  let leases: Lease[] = []
  while (leases.length === 0 && !isLate.aborted) leases = await queue.lease(places, isLate)
  expect(leases.map(({ id }) => id)).toEqual([other.id])
  await queue.commit(leases[0]!)
}

/** How many pages of a host are out. */
const AT_ONCE = 8
const PACED_HOSTS = 12
const bigsOf = (host: string, count: number) =>
  Array.from({ length: count }, (_, n) => page(host, `big-${n}`, 'x'.repeat(BIG_BYTES)))

type Page = ReturnType<typeof page>

/** Has the first pages in hand as the big ones come. */
async function withBehind(
  queue: BucketQueue,
  firsts: readonly Page[],
  bigs: readonly Page[],
): Promise<Lease[]> {
  await queue.push([...firsts], 'o')
  const out = await leasedAll(queue, firsts.length)
  const waiting = queue.lease(8, AbortSignal.timeout(TAKEN_MS))
  await queue.push([...bigs], 'bigs')
  expect(await waiting).toEqual([])
  return out
}

test('megabytes for a host that has all in flight keep no other host from a worker, and go in order when it has answered', async () => {
  const queue = await opened({ concurrency: AT_ONCE })
  const firsts = Array.from({ length: AT_ONCE }, (_, n) => page('full.test', n))
  const bigs = bigsOf('full.test', 2 * AT_ONCE)
  const out = await withBehind(queue, firsts, bigs)
  await othersGo(queue, AT_ONCE)
  await Promise.all(out.map((lease) => queue.commit(lease)))
  const ids: string[] = []
  while (ids.length < bigs.length) {
    const [lease] = await leasedAll(queue, 1)
    ids.push(lease!.id)
    await queue.commit(lease!)
  }
  expect(ids).toEqual(bigs.map(({ id }) => id))
  expect((await queue.counts()).leased).toBe(0)
  await queue.close()
})

test('nor do megabytes for hosts with a delay, of which a page is out', async () => {
  const queue = await opened({ delayMs: 60_000 })
  const hosts = Array.from({ length: PACED_HOSTS }, (_, n) => `paced-${n}.test`)
  await withBehind(
    queue,
    hosts.map((host) => page(host, 'first')),
    hosts.flatMap((host) => bigsOf(host, 1)),
  )
  await othersGo(queue, AT_ONCE)
  await queue.close()
})

test('nor do more full hosts than a worker bears requests of', async () => {
  const queue = await opened({})
  const hosts = Array.from({ length: FULL_HOSTS }, (_, n) => `full-${n}.test`)
  const push = (n: number) =>
    queue.push(
      hosts.map((host) => page(host, n)),
      String(n),
    )
  await push(0)
  await leasedAll(queue, FULL_HOSTS)
  const waiting = queue.lease(100, AbortSignal.timeout(2 * TAKEN_MS))
  // One link of each lies there when the next one comes, to an empty line.
  await push(1)
  await vi.waitFor(async () => expect((await queue.counts()).leased).toBe(2 * FULL_HOSTS), WAIT_MS_MAX)
  await push(2)
  expect(await waiting).toEqual([])
  await othersGo(queue, 100)
  await queue.close()
})

test('what goes back of many hosts at once, more than a message has, stays in the order of each', async () => {
  const queue = await opened({ concurrency: 3 })
  const hosts = Array.from({ length: 400 }, (_, n) => `full-${n}.test`)
  const push = (...numbers: number[]) =>
    queue.push(
      hosts.flatMap((host) => numbers.map((n) => page(host, n))),
      numbers.join(),
    )
  await push(0, 1, 2)
  const out = await leasedAll(queue, 3 * hosts.length)
  const waiting = queue.lease(100, AbortSignal.timeout(3 * TAKEN_MS))
  await push(3, 4, 5)
  // Waits: a part of these lies there when more come.
  await sleep(300)
  await push(6, 7, 8)
  expect(await waiting).toEqual([])
  await othersGo(queue, 100)
  await Promise.all(out.map((lease) => queue.commit(lease)))
  const order = new Map<string, string[]>()
  for (let left = 6 * hosts.length; left > 0; ) {
    const leases = await queue.lease(Math.min(300, left))
    left -= leases.length
    for (const lease of leases) {
      lease.started()
      const [host = '', n = ''] = lease.id.split('/')
      order.set(host, [...(order.get(host) ?? []), n])
    }
    await Promise.all(leases.map((lease) => queue.commit(lease)))
  }
  expect(new Set([...order.values()].map(String))).toEqual(new Set(['3,4,5,6,7,8']))
  await queue.close()
})
