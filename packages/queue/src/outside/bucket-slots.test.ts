import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { BucketBench, crawl, pages } from '../../testing/bucket-bench.ts'
import { readSlot } from './bucket-slots.ts'

const bench = new BucketBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test('a slot of which a worker has some is held by that worker, and what it has is in flight', async () => {
  const keys = bench.nextKeys()
  const queue = await bench.queue({ keys, workerId: 'first:1:1', pace: { delayMs: 60_000 } })
  await queue.push(pages('a', 5), 'o')
  expect(await readSlot(bench.redis, keys, 'a.test')).toMatchObject({ state: 'ready', waiting: 5, lanes: 0 })
  const [lease] = await queue.lease(1)
  const seen = await readSlot(bench.redis, keys, 'a.test')
  expect(seen).toMatchObject({ slot: 'a.test', state: 'held', lanes: 0, holders: ['first:1:1'] })
  expect(seen.waiting + seen.leased).toBe(5)
  expect(seen.leased).toBeGreaterThan(0)
  await queue.requeue(lease!)
  await queue.close()
  expect(await readSlot(bench.redis, keys, 'a.test')).toMatchObject({ waiting: 5, leased: 0, holders: [] })
})

test('a hot slot tells its lanes, and each worker that has one', async () => {
  const keys = bench.nextKeys()
  const one = await bench.queue({ keys, workerId: 'one:1:1' })
  const other = await bench.queue({ keys, workerId: 'other:1:1' })
  await one.push(pages('a', 100), 'o')
  await one.lease(1)
  // Who came last has heard of the other: there may be a second lane.
  await other.push(pages('a', 200), 'p')
  await other.lease(16)
  await one.lease(1)
  await vi.waitFor(async () => {
    const seen = await readSlot(bench.redis, keys, 'a.test')
    expect(seen).toMatchObject({ state: 'hot', lanes: 2 })
    expect(new Set(seen.holders)).toEqual(new Set(['one:1:1', 'other:1:1']))
  })
  await Promise.all([one.close(), other.close()])
})

test('a worker that serves all its hosts in turn, and is full, leaves half of them to one with nothing to do', async () => {
  const keys = bench.nextKeys()
  const first = await bench.queue({ keys })
  const hosts = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  await first.push(
    hosts.flatMap((host) => pages(host, 60)),
    'o',
  )
  const fetched = { byFirst: 0, byLate: 0 }
  const crawling = crawl(first, 4, async (lease) => {
    fetched.byFirst++
    // Waits: so long a page takes.
    await sleep(20)
    await first.commit(lease)
  })
  // It has been to each of the hosts.
  await vi.waitFor(() => expect(fetched.byFirst).toBeGreaterThan(40))
  const late = await bench.queue({ keys })
  const crawlingLate = crawl(late, 4, async (lease) => {
    fetched.byLate++
    // Waits: so long a page takes.
    await sleep(20)
    await late.commit(lease)
  })
  await Promise.all([crawling, crawlingLate])
  expect(fetched.byFirst + fetched.byLate).toBe(480)
  expect(fetched.byLate).toBeGreaterThan(120)
})
