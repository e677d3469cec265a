import { type Lease, scaledTimes } from '@webloom/core'
import { startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { BucketBench, crawl, page, pages } from '../../testing/bucket-bench.ts'
import { leased } from '../../testing/leased.ts'
import type { BucketPoint } from './queue-options.ts'
import { BucketScripts } from './scripts/bucket-scripts.ts'

const times = scaledTimes(0.2)
const bench = new BucketBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test('suspects that wait for their turn, and are lost meanwhile, come again, and the crawl goes on', async () => {
  await using proxy = await startTcpProxy({ target: bench.server.url })
  const keys = bench.nextKeys()
  const silent = await bench.queue({ keys, times, url: proxy.url })
  await silent.push(pages('a', 3), 'o')
  const lost = await leased(silent, 3)
  expect(lost).toHaveLength(3)
  for (const lease of lost) lease.started()
  await vi.waitFor(async () => expect(await bench.redis.keys(`${keys.frontier}:started:*`)).toHaveLength(1))

  let takes = 0
  const onPoint = (name: BucketPoint) => {
    if (name === 'taken') takes++
  }
  const queue = await bench.queue({ keys, times, onPoint })
  await queue.push([page('b', 0)], 'p')
  const [before] = await leased(queue, 1)
  proxy.hang()
  await silent.close()
  // Suspects run alone: they lie here until this one has ended.
  const fetched: string[] = []
  const crawling = crawl(queue, 4, async (lease) => {
    fetched.push(`${lease.id}${lease.signal.aborted ? ' lost' : ''}`)
    lease.started()
    await queue.commit(lease)
  })
  await vi.waitFor(() => expect(takes).toBe(2))
  // A Redis that has come back older knows fewer of its commands.
  await bench.redis.hset(`${keys.frontier}:heard`, 'bench:2:x', 0)
  await expect(queue.commit(before!)).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
  await crawling
  expect(fetched.sort()).toEqual(['a/0', 'a/1', 'a/2', 'b/0'])
})

test('what had started is known after a long weekend without a worker; what is noted of a cleared crawl goes by itself', async () => {
  const keys = bench.nextKeys()
  const scripts = new BucketScripts({ redis: bench.redis, keys, order: 'priority' })
  await scripts.started('late', ['a.test~0 1'])
  expect(await bench.redis.pttl(`${keys.frontier}:started:late`)).toBeGreaterThan(4 * 86_400_000)
})

test('of requests that came with one message, the end of one does not make another count as never started', async () => {
  await using proxy = await startTcpProxy({ target: bench.server.url })
  const keys = bench.nextKeys()
  const killed = await bench.queue({ keys, times, url: proxy.url })
  const hosts = ['a', 'b', 'c', 'd']
  const all = async () => {
    const leases: Lease[] = []
    while (leases.length < hosts.length) leases.push(...(await killed.lease(hosts.length - leases.length)))
    return leases
  }
  const push = (path: number) =>
    killed.push(
      hosts.map((host) => page(host, path)),
      `${path}`,
    )
  await push(0)
  for (const lease of await all()) await killed.commit(lease)
  // Its buckets rest here now, so one message asks for what comes to all of them.
  const taken = all()
  await push(1)
  const leases = await taken
  for (const lease of leases) lease.started()
  const [first, ...others] = leases
  await killed.commit(first!)
  const [started] = await bench.redis.keys(`${keys.frontier}:started:bench:*`)
  expect(await bench.redis.scard(started!)).toBe(3)
  proxy.hang()
  await killed.close()
  const queue = await bench.queue({ keys, times })
  const attempts: [string, number][] = []
  await crawl(queue, 4, async (lease) => {
    attempts.push([lease.id, lease.attempt])
    lease.started()
    await queue.commit(lease)
  })
  expect(attempts.sort()).toEqual(others.map(({ id }): [string, number] => [id, 2]).sort())
})

test('what is taken for free places is noted in the step that takes it, and by no message of its own', async () => {
  const keys = bench.nextKeys()
  const monitor = await bench.redis.monitor()
  const notes: string[] = []
  monitor.on('monitor', (_time, [command, key]: string[], source: string) => {
    if (command!.toLowerCase() === 'sadd' && key!.includes(':started:')) notes.push(source)
  })
  const queue = await bench.queue({ keys, times })
  await queue.push(pages('a', 20), 'o')
  // One by one: with several out some lie ready, and these are noted as they are handed out.
  for (let n = 0; n < 5; n++)
    for (const lease of await leased(queue, 1)) {
      lease.started()
      await queue.commit(lease)
    }
  await vi.waitFor(() => expect(notes.length).toBeGreaterThan(3))
  expect(notes.filter((source) => source !== 'lua')).toEqual([])
  monitor.disconnect()
})

test('what is noted and does not leave, as nobody wants it any more, is no suspect', async () => {
  const keys = bench.nextKeys()
  const givesUp = new AbortController()
  const queue = await bench.queue({ keys, times, onPoint: (name) => name === 'taken' && givesUp.abort() })
  await queue.push(pages('a', 5), 'o')
  expect(await queue.lease(5, givesUp.signal)).toEqual([])
  const noted = async () => {
    const [started] = await bench.redis.keys(`${keys.frontier}:started:*`)
    return started ? bench.redis.scard(started) : 0
  }
  await vi.waitFor(async () => expect(await noted()).toBe(0))
  await leased(queue, 3)
  await vi.waitFor(async () => expect(await noted()).toBe(3))
})

test('of suspects only the one that runs is noted as started: those that lie there would count as tried when this worker is lost', async () => {
  await using proxy = await startTcpProxy({ target: bench.server.url })
  const keys = bench.nextKeys()
  const killed = await bench.queue({ keys, times, url: proxy.url })
  await killed.push(pages('a', 3), 'o')
  for (const lease of await leased(killed, 3)) lease.started()
  await vi.waitFor(async () => expect(await bench.redis.keys(`${keys.frontier}:started:*`)).toHaveLength(1))
  proxy.hang()
  await killed.close()
  const [before] = await bench.redis.keys(`${keys.frontier}:started:*`)
  const queue = await bench.queue({ keys, times })
  for (let n = 0; n < 3; n++) {
    // All three places are free, and one suspect at a time comes.
    let [suspect] = await queue.lease(3)
    while (!suspect) [suspect] = await queue.lease(3)
    suspect.started()
    expect(suspect.attempt).toBe(2)
    await vi.waitFor(async () => {
      const [own] = (await bench.redis.keys(`${keys.frontier}:started:*`)).filter((key) => key !== before)
      expect(await bench.redis.scard(own!)).toBe(1)
    })
    await queue.commit(suspect)
  }
})

test('a request that waits for something before it leaves is no suspect, until it has left', async () => {
  await using proxy = await startTcpProxy({ target: bench.server.url })
  const keys = bench.nextKeys()
  const killed = await bench.queue({ keys, times, url: proxy.url })
  await killed.push([page('a', 0), page('b', 0), page('c', 0)], 'o')
  const leases = await leased(killed, 3)
  const named = (name: string) => leases.find(({ id }) => id === `${name}/0`)!
  named('a').started()
  const noted = async () => {
    const [key] = await bench.redis.keys(`${keys.frontier}:started:bench:*`)
    return key === undefined ? 0 : bench.redis.scard(key)
  }
  await vi.waitFor(async () => expect(await noted()).toBe(1))
  named('b').started()
  await vi.waitFor(async () => expect(await noted()).toBe(2))
  proxy.hang()
  await killed.close()

  const queue = await bench.queue({ keys, times })
  const attempts = new Map<string, number>()
  await crawl(queue, 3, async (lease) => {
    attempts.set(lease.id, lease.attempt)
    lease.started()
    await queue.commit(lease)
  })
  expect(Object.fromEntries(attempts)).toEqual({ 'a/0': 2, 'b/0': 2, 'c/0': 1 })
})
