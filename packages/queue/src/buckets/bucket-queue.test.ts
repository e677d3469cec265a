import { setTimeout as sleep } from 'node:timers/promises'
import { type Lease, PROTOCOL_TIMES } from '@webloom/core'
import { requestQueueContract, withoutSlotNow } from '@webloom/core/contract'
import { MachineLag, startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { BucketBench, crawl, ids, page, pages } from '../../testing/bucket-bench.ts'
import { leased } from '../../testing/leased.ts'
import { BUCKETS, bucketOf } from '../politeness/bucket-of.ts'

const bench = new BucketBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const EMPTY = { waiting: 0, delayed: 0, leased: 0, quarantined: 0 }

/** Gaps between the starts at one host, milliseconds. */
const gaps = (startedAt: readonly number[]) => {
  const sorted = [...startedAt].sort((a, b) => a - b)
  return sorted.slice(1).map((at, n) => at - sorted[n]!)
}

requestQueueContract(
  { describe, test },
  {
    name: 'BucketQueue',
    create: async ({ order = 'priority', delayMs = 0, concurrency = 0 }) => {
      const queue = await bench.queue({ order, pace: { delayMs, concurrency } })
      return { queue, dispose: () => queue.close() }
    },
    createRefusing: async () => {
      const queue = await bench.queue()
      return { queue, refuse: (isRefused) => bench.refuseWrites(isRefused), dispose: () => queue.close() }
    },
    deviations: withoutSlotNow('its slots are held by many workers; the cluster’s desk asks Redis'),
  },
)

test('who waits for requests as the last page ends hears at once that nothing can come', async () => {
  const never = { ...PROTOCOL_TIMES.engine, leaseWaitMaxMs: 600_000 }
  const queue = await bench.queue({ times: { ...PROTOCOL_TIMES, engine: never } })
  await queue.push([page('a', 1)], 'o')
  const [last] = await leased(queue, 1)
  last!.started()
  const waits = queue.lease(1)
  await queue.commit(last!)
  expect(await waits).toEqual([])
})

test('what a command brings, BullMQ is told of: its turn is there, and more urgent with what is more urgent', async () => {
  const keys = bench.nextKeys()
  const scores = `${keys.bullPrefix}:${keys.queueName}:prioritized`
  const brought = async (path: string, priority: number) => {
    const command = await bench.queue({ keys, isOutside: true })
    await command.push([page('a', path, { priority })], path)
    await command.close()
    const [job, score] = await bench.redis.zrange(scores, '0', '-1', 'WITHSCORES')
    return { job, score: Number(score) }
  }
  const first = await brought('some', 0)
  expect(first.job).toContain(bucketOf('a.test', BUCKETS))
  const second = await brought('urgent', 5)
  expect(second.job).toBe(first.job)
  expect(second.score).toBeLessThan(first.score)
})

describe('several workers', () => {
  test('a host’s delay holds for both together, and all of its slots are used', async () => {
    const keys = bench.nextKeys()
    const options = { keys, pace: { delayMs: 100 } }
    const [one, other] = [await bench.queue(options), await bench.queue(options)]
    await one.push(pages('a', 30), 'o')
    const startedAt: number[] = []
    const visit = (queue: typeof one) => async (lease: Lease) => {
      // Waits: a download is not sent at once, and takes a while.
      await sleep(3)
      lease.started()
      startedAt.push(performance.now())
      // Waits: so long the page takes.
      await sleep(20)
      await queue.commit(lease)
    }
    await Promise.all([crawl(one, 4, visit(one)), crawl(other, 4, visit(other))])
    expect(startedAt).toHaveLength(30)
    expect(Math.min(...gaps(startedAt))).toBeGreaterThanOrEqual(75)
    const tookMs = Math.max(...startedAt) - Math.min(...startedAt)
    expect(29 / tookMs).toBeGreaterThanOrEqual(0.85 / 100)
  })

  test('a big host is shared, and has no more in flight than it may have in all', async () => {
    const options = { keys: bench.nextKeys(), pace: { concurrency: 24 } }
    // One worker alone could not have all of it in flight.
    const atOnce = 16
    const [one, other] = [await bench.queue(options), await bench.queue(options)]
    // Who came last has heard of the other: there may be two lanes.
    for (const asker of ['o', 'p']) await other.push(pages('a', 1000), asker)
    let [inFlight, most] = [0, 0]
    const done = [0, 0]
    const visit = (queue: typeof one, n: number) => async (lease: Lease) => {
      most = Math.max(most, ++inFlight)
      lease.started()
      // Waits: so long the page takes.
      await sleep(10)
      done[n]!++
      // It ends for the queue a moment after it has ended here.
      inFlight--
      await queue.commit(lease)
    }
    await Promise.all([crawl(one, atOnce, visit(one, 0)), crawl(other, atOnce, visit(other, 1))])
    expect(done[0]! + done[1]!).toBe(2000)
    expect(Math.min(...done)).toBeGreaterThan(130)
    expect(most).toBeLessThanOrEqual(24)
  })

  test('a pause called by one holds for the other at once, also for what that has taken ahead', async () => {
    const options = { keys: bench.nextKeys() }
    const [one, other] = [await bench.queue(options), await bench.queue(options)]
    await one.push(pages('a', 100), 'o')
    const [first] = await leased(one, 1)
    // Who came last has heard of the other: there may be a second lane.
    await other.push(pages('a', 200), 'p')
    const held = await other.lease(16)
    // Something lies ready there from now on.
    await other.commit(held.pop()!)
    expect((await one.counts()).leased).toBeGreaterThan(1 + held.length)
    using lag = new MachineLag()
    const pausedAt = performance.now()
    await one.commit(first!, { host: { pauseMs: 1500 } })
    await vi.waitFor(async () => expect((await one.counts()).leased).toBe(held.length))
    expect(performance.now() - pausedAt).toBeLessThan(1400 + lag.ms)
    // A lease that finds nothing for a second answers so, and one of a queue that is closed at once.
    let isOver = false
    const comes = async (queue: typeof one) => {
      while (!isOver && (await queue.lease(1)).length === 0);
      isOver = true
    }
    await Promise.race([comes(one), comes(other)])
    expect(performance.now() - pausedAt).toBeGreaterThanOrEqual(1495)
  })

  test('the end of a crawl that stays deletes jobs that nobody will begin, and nothing of one that goes on', async () => {
    const keys = bench.nextKeys()
    const bull = (name: string) => `${keys.base}:${name}`
    const queue = await bench.queue({ keys })
    await queue.push([page('a', 0), page('a', 1)], 'o')
    const [first, second] = await leased(queue, 2)
    await queue.commit(first!)
    // Whose lock ran out when it told BullMQ of its end.
    await bench.redis.lpush(bull('active'), 'a.test~1~4')
    await bench.redis.hset(bull('a.test~1~4'), { name: 'turn' })
    await queue.crawlEnded()
    expect(await bench.redis.exists(bull('a.test~1~4'))).toBe(1)
    await queue.commit(second!)
    await queue.close()
    await queue.crawlEnded()
    expect(await bench.redis.exists(bull('a.test~1~4'), bull('active'), bull('stalled'))).toBe(0)
  })

  test('notes of what was pushed expire with the last of them, and the list of them does, too', async () => {
    const keys = bench.nextKeys()
    const ttlOf = async (key: string) => Number(await bench.redis.pttl(key))
    const owners = `${keys.frontier}:owners`
    const queue = await bench.queue({ keys })
    await queue.push([page('a', 0)], 'o')
    expect(await ttlOf(owners)).toBeGreaterThan(7 * 86_000_000)
    await queue.settled('o')
    const [lease] = await leased(queue, 1)
    await queue.commit(lease!)
    await queue.close()
    await queue.crawlEnded()
    // Both in one moment: between two commands a busy machine may let some time pass.
    const [left, ofNote] = (
      (await bench.redis.multi().pttl(owners).pttl(`${keys.noted}:o`).exec()) ?? []
    ).map(([, ms]) => Number(ms))
    expect(left).toBeGreaterThan(20_000)
    expect(left).toBeLessThanOrEqual(30_000)
    expect(left! - ofNote!).toBeLessThan(100)
  })

  test('clear deletes what waits in a bucket of very many hosts', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.queue({ keys })
    await queue.push([page('a', 0)], 'o')
    // The lines of so many others: to find names that belong to this bucket takes a million of them.
    const lines = `${keys.frontier}:lines:${bucketOf('a.test', BUCKETS)}`
    const short = (await bench.redis.hget(lines, 'a.test'))!
    await queue.push(pages('a', 200), 'o')
    const long = (await bench.redis.hget(lines, 'a.test'))!
    expect(long).toContain('\n@')
    const others = Array.from(
      { length: 2300 },
      (_, n) => [`host-${n}.test`, n % 10 === 0 ? long : short] as const,
    )
    expect(await bench.redis.hset(lines, Object.fromEntries(others))).toBe(2300)
    // A long line has its requests in a list.
    for (const [host, line] of others)
      if (line === long) await bench.redis.rpush(`${keys.frontier}:line:0:${host}`, 'a page')
    expect((await queue.counts()).waiting).toBe(200)
    await queue.clear()
    expect((await queue.counts()).waiting).toBe(0)
    await queue.close()
    expect(await bench.redis.keys(`${keys.frontier}:*`)).toEqual([`${keys.frontier}:counts`])
  })

  test('clear deletes what waits for a hot host whose bucket has nothing else', async () => {
    const keys = bench.nextKeys()
    const [one, other] = [await bench.queue({ keys }), await bench.queue({ keys })]
    await one.push(pages('a', 100), 'o')
    await one.lease(1)
    await other.push(pages('a', 200), 'p')
    await other.lease(1)
    const bucket = await bench.redis.hget(`${keys.frontier}:unit:a.test`, 'bucket')
    expect(bucket).not.toBeNull()
    for (const queue of [one, other]) await queue.close()
    const cleared = await bench.queue({ keys })
    await vi.waitFor(async () => {
      expect(await bench.redis.exists(`${keys.frontier}:unit:${bucket}`)).toBe(0)
      expect((await cleared.counts()).waiting).toBeGreaterThan(0)
    })
    await cleared.clear()
    await cleared.close()
    expect(await bench.redis.keys(`${keys.frontier}:*`)).toEqual([`${keys.frontier}:counts`])
  })

  test('a host that is given a delay while several have it: one goes on, and keeps it', async () => {
    const keys = bench.nextKeys()
    const [one, other] = [await bench.queue({ keys }), await bench.queue({ keys })]
    await one.push(pages('a', 100), 'o')
    const before = await leased(one, 3)
    await other.push(pages('a', 200), 'p')
    before.push(...(await other.lease(3)))
    const host = `${keys.frontier}:unit:a.test`
    expect(before).toHaveLength(6)
    for (const lease of before) lease.started()
    await one.commit(before[0]!, { host: { delayMs: 100 } })
    const delayedAt = performance.now()
    for (const lease of before.slice(1)) await (before.indexOf(lease) < 3 ? one : other).commit(lease)
    const startedAt: number[] = []
    const visitSome = async (queue: typeof one) => {
      while (startedAt.length < 12) {
        for (const lease of await queue.lease(1)) {
          lease.started()
          startedAt.push(performance.now())
          await queue.commit(lease)
        }
      }
    }
    await Promise.all([visitSome(one), visitSome(other)])
    expect(Math.min(...gaps([delayedAt, ...startedAt]))).toBeGreaterThanOrEqual(75)
    expect(await bench.redis.hget(host, 'up')).toBe('1')
  })

  test('what was learned of a host outlives all workers, and is gone when the crawl is cleared', async () => {
    const keys = bench.nextKeys()
    const first = await bench.queue({ keys })
    await first.push([page('a', 1), page('b', 1)], 'o')
    for (const lease of await leased(first, 2)) {
      await first.commit(lease, { host: { delayMs: 20, failures: 2, pauseMs: 300 } })
    }
    const pausedAt = performance.now()
    await first.close()
    const second = await bench.queue({ keys })
    await second.push([page('a', 2)], 'p')
    const [lease] = await leased(second, 1)
    expect(performance.now() - pausedAt).toBeGreaterThan(250)
    expect(lease).toMatchObject({ id: 'a/2', host: { delayMs: 20, failures: 2 } })
    await second.clear()
    await second.push([page('a', 3), page('b', 3)], 'q')
    const third = await bench.queue({ keys })
    await second.close()
    const learned = new Map<string, unknown>()
    while (learned.size < 2) for (const { id, host } of await third.lease(2)) learned.set(id, host)
    expect([...learned.values()]).toEqual([
      { delayMs: 0, failures: 0 },
      { delayMs: 0, failures: 0 },
    ])
  })

  test('hosts that one worker has and does not serve go to another', async () => {
    const keys = bench.nextKeys()
    const full = await bench.queue({ keys })
    const hosts = Array.from({ length: 8 }, (_, n) => page(`h${n}`, 1))
    await full.push(hosts, 'o')
    const taken = await leased(full, 2)
    const other = await bench.queue({ keys })
    const rest = new Set<string>()
    await vi.waitFor(async () => {
      for (const lease of await other.lease(8)) {
        rest.add(lease.id)
        await other.commit(lease)
      }
      expect(rest.size + taken.length).toBe(8)
    })
  })
})

describe('what waits', () => {
  test('a host whose turn waits becomes urgent with its most urgent request', async () => {
    const keys = bench.nextKeys()
    const writer = await bench.queue({ keys })
    for (const host of ['a', 'b', 'c', 'd']) await writer.push([page(host, 1)], `o${host}`)
    await writer.push([page('d', 2, { priority: 7 })], 'urgent')
    // BullMQ is told of it behind the push, and before the queue is closed.
    await writer.close()
    const reader = await bench.queue({ keys })
    expect(ids(await reader.lease(1))).toEqual(['d/2'])
  })

  test('a host that sleeps until a retry wakes for a request that may go now', async () => {
    const queue = await bench.queue()
    await queue.push([page('a', 1)], 'o')
    const [lease] = await leased(queue, 1)
    await queue.retry(lease!, lease!.request, 60_000)
    // Its turn has gone back to BullMQ, until then.
    await vi.waitFor(async () => expect(await queue.lease(1)).toEqual([]))
    await queue.push([page('a', 2)], 'p')
    const [second] = await leased(queue, 1)
    expect(second!.id).toBe('a/2')
    await queue.commit(second!)
    expect(await queue.counts()).toEqual({ ...EMPTY, delayed: 1 })
  })

  test('a retry that is due goes, though its turn was given back to BullMQ meanwhile', async () => {
    const queue = await bench.queue()
    await queue.push([page('a', 1)], 'o')
    const [lease] = await leased(queue, 1)
    using lag = new MachineLag()
    const retriedAt = performance.now()
    await queue.retry(lease!, lease!.request, 2600)
    const [again] = await vi.waitUntil(async () => {
      const found = await queue.lease(1)
      return found.length > 0 && found
    })
    expect(again!.id).toBe('a/1')
    expect(performance.now() - retriedAt).toBeGreaterThanOrEqual(2600)
    // BullMQ alone might wait for ten seconds.
    expect(performance.now() - retriedAt).toBeLessThan(7000 + lag.ms)
  })

  test('what another worker adds to a host that is in flight here does not wait for the page', async () => {
    const keys = bench.nextKeys()
    const [one, other] = [await bench.queue({ keys }), await bench.queue({ keys })]
    await one.push([page('a', 1)], 'o')
    const [slow] = await leased(one, 1)
    await other.push([page('a', 2)], 'p')
    expect(ids(await leased(one, 1))).toEqual(['a/2'])
    await one.commit(slow!)
  })

  test('a page with more links than one script takes: all are queued, and again only for the page that lost its reply', async () => {
    const queue = await bench.queue()
    await queue.push([page('a', 'hub')], 'o')
    const [hub] = await leased(queue, 1)
    await queue.commit(hub!, { children: pages('b', 1700) })
    expect(await queue.counts()).toEqual({ ...EMPTY, waiting: 1700 })
  })

  test('a host’s name may hold anything', async () => {
    const queue = await bench.queue()
    const slot = 'a:b~1~2/%\ud800 ü{}'
    await queue.push([page('a', 1, { meta: { download_slot: slot } })], 'o')
    const [lease] = await leased(queue, 1)
    expect(lease!.id).toBe('a/1')
    await queue.commit(lease!)
    expect(await queue.counts()).toEqual(EMPTY)
  })
})

test('what goes back first does so before what was being taken meanwhile', async () => {
  await using proxy = await startTcpProxy({ target: bench.server.url })
  const queue = await bench.queue({ url: proxy.url, pace: { delayMs: 100 } })
  await queue.push(pages('a', 3), 'o')
  const [first] = await leased(queue, 1)
  first!.started()
  // Waits: longer than the delay of its host: the next may go at once.
  await sleep(150)
  let goingBack: Promise<void> | undefined
  proxy.judgeBy((command) => {
    if (command.includes('a.test')) goingBack ??= queue.retry(first!, first!.request, 'first')
    return 'forward'
  })
  const leases: Lease[] = []
  for (let n = 0; n < 3; n++) {
    const [lease] = await leased(queue, 1)
    lease!.started()
    leases.push(lease!)
  }
  await goingBack
  expect(ids(leases)).toEqual(['a/0', 'a/1', 'a/2'])
})
