import { setTimeout as sleep } from 'node:timers/promises'
import { type Lease, PROTOCOL_TIMES, type QueuedRequest, WebloomError } from '@webloom/core'
import { requestQueueContract } from '@webloom/core/contract'
import { startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { crawl, page, pages, TurnBench } from '../../testing/turn-bench.ts'
import { Quarantine } from '../leasing/quarantine.ts'
import { BULL_PREFIX } from '../redis/crawl-redis-keys.ts'

const TURN_LOCK_MS = PROTOCOL_TIMES.turns.lockMs
const bench = new TurnBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const EMPTY = { waiting: 0, delayed: 0, leased: 0, quarantined: 0 }
const ids = (leases: readonly { id: string }[]) => leases.map(({ id }) => id)

/** Gaps between the starts at one host, milliseconds. */
const gaps = (startedAt: readonly number[]) => {
  const sorted = [...startedAt].sort((a, b) => a - b)
  return sorted.slice(1).map((at, n) => at - sorted[n]!)
}

requestQueueContract(
  { describe, test },
  {
    name: 'HostTurnQueue',
    create: async ({ order = 'priority', delayMs = 0, concurrency = 0 }) => {
      const queue = await bench.queue({ order, pace: { delayMs, concurrency } })
      return { queue, dispose: () => queue.close() }
    },
  },
)

describe('several workers', () => {
  test('a host’s delay holds for both together, and all of its slots are used', async () => {
    const keys = bench.nextKeys()
    const options = { keys, pace: { delayMs: 100 } }
    const [one, other] = [await bench.queue(options), await bench.queue(options)]
    await one.push(pages('a', 30), 'o')
    const startedAt: number[] = []
    const visit = (queue: typeof one) => async (lease: Lease) => {
      await sleep(3)
      lease.started()
      startedAt.push(performance.now())
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
    for (const asker of ['o', 'p']) await other.push(pages('a', 1500), asker)
    let [inFlight, most] = [0, 0]
    const done = [0, 0]
    const visit = (queue: typeof one, n: number) => async (lease: Lease) => {
      most = Math.max(most, ++inFlight)
      lease.started()
      await sleep(10)
      done[n]!++
      // It ends for the queue a moment after it has ended here.
      inFlight--
      await queue.commit(lease)
    }
    await Promise.all([crawl(one, atOnce, visit(one, 0)), crawl(other, atOnce, visit(other, 1))])
    expect(done[0]! + done[1]!).toBe(3000)
    expect(Math.min(...done)).toBeGreaterThan(200)
    expect(most).toBeLessThanOrEqual(24)
  })

  test('a pause called by one holds for the other at once, also for what that has taken ahead', async () => {
    const options = { keys: bench.nextKeys() }
    const [one, other] = [await bench.queue(options), await bench.queue(options)]
    await one.push(pages('a', 100), 'o')
    const [first] = await one.lease(1)
    // Who came last has heard of the other: there may be a second lane.
    await other.push(pages('a', 200), 'p')
    const held = await other.lease(16)
    // Something lies ready there from now on.
    await other.commit(held.pop()!)
    expect((await one.counts()).leased).toBeGreaterThan(1 + held.length)
    const pausedAt = performance.now()
    await one.commit(first!, { host: { pauseMs: 1500 } })
    await vi.waitFor(async () => expect((await one.counts()).leased).toBe(held.length))
    expect(performance.now() - pausedAt).toBeLessThan(1400)
    // A lease that finds nothing for a second answers so.
    const comes = async (queue: typeof one) => {
      while ((await queue.lease(1)).length === 0);
    }
    await Promise.race([comes(one), comes(other)])
    expect(performance.now() - pausedAt).toBeGreaterThanOrEqual(1495)
  })

  test('a host that is given a delay while several have it: one goes on, and keeps it', async () => {
    const keys = bench.nextKeys()
    const [one, other] = [await bench.queue({ keys }), await bench.queue({ keys })]
    await one.push(pages('a', 100), 'o')
    const before = await one.lease(3)
    await other.push(pages('a', 200), 'p')
    before.push(...(await other.lease(3)))
    const host = `${keys.turns}:host:a.test`
    expect(await bench.redis.hget(host, 'up')).toBe('2')
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

  test('what was learnt of a host outlives all workers, and is gone when the crawl is cleared', async () => {
    const keys = bench.nextKeys()
    const first = await bench.queue({ keys })
    await first.push([page('a', 1), page('b', 1)], 'o')
    for (const lease of await vi.waitUntil(async () => {
      const leases = await first.lease(2)
      return leases.length > 0 && leases
    })) {
      await first.commit(lease, { host: { delayMs: 20, failures: 2, pauseMs: 300 } })
    }
    for (const lease of await first.lease(2)) {
      await first.commit(lease, { host: { delayMs: 20, failures: 2, pauseMs: 300 } })
    }
    const pausedAt = performance.now()
    await first.close()
    const second = await bench.queue({ keys })
    await second.push([page('a', 2)], 'p')
    const [lease] = await second.lease(1)
    expect(performance.now() - pausedAt).toBeGreaterThan(250)
    expect(lease).toMatchObject({ id: 'a/2', host: { delayMs: 20, failures: 2 } })
    await second.clear()
    await second.push([page('a', 3), page('b', 3)], 'q')
    const third = await bench.queue({ keys })
    await second.close()
    const learnt = new Map<string, unknown>()
    while (learnt.size < 2) for (const { id, host } of await third.lease(2)) learnt.set(id, host)
    expect([...learnt.values()]).toEqual([
      { delayMs: 0, failures: 0 },
      { delayMs: 0, failures: 0 },
    ])
  })

  test('hosts that one worker has and does not serve go to another', async () => {
    const keys = bench.nextKeys()
    const full = await bench.queue({ keys })
    const hosts = Array.from({ length: 8 }, (_, n) => page(`h${n}`, 1))
    await full.push(hosts, 'o')
    const taken = await full.lease(2)
    const other = await bench.queue({ keys })
    const rest = new Set<string>()
    await vi.waitFor(async () => {
      for (const lease of await other.lease(8)) {
        rest.add(lease.id)
        await other.commit(lease)
      }
      expect(rest.size + taken.length).toBe(8)
    }, 8000)
  })
})

describe('what waits', () => {
  test('a host whose turn waits becomes urgent with its most urgent request', async () => {
    const keys = bench.nextKeys()
    const writer = await bench.queue({ keys })
    for (const host of ['a', 'b', 'c', 'd']) await writer.push([page(host, 1)], `o${host}`)
    await writer.push([page('d', 2, { priority: 7 })], 'urgent')
    const reader = await bench.queue({ keys })
    expect(ids(await reader.lease(1))).toEqual(['d/2'])
  })

  test('a host that sleeps until a retry wakes for a request that may go now', async () => {
    const queue = await bench.queue()
    await queue.push([page('a', 1)], 'o')
    const [lease] = await queue.lease(1)
    await queue.retry(lease!, lease!.request, 60_000)
    // Its turn has gone back to BullMQ, until then.
    await vi.waitFor(async () => expect(await queue.lease(1)).toEqual([]))
    await queue.push([page('a', 2)], 'p')
    const [second] = await queue.lease(1)
    expect(second!.id).toBe('a/2')
    await queue.commit(second!)
    expect(await queue.counts()).toEqual({ ...EMPTY, delayed: 1 })
  })

  test('a retry that is due goes, though its turn was given back to BullMQ meanwhile', async () => {
    const queue = await bench.queue()
    await queue.push([page('a', 1)], 'o')
    const [lease] = await queue.lease(1)
    const retriedAt = performance.now()
    await queue.retry(lease!, lease!.request, 2600)
    const [again] = await vi.waitUntil(async () => {
      const found = await queue.lease(1)
      return found.length > 0 && found
    }, 10_000)
    expect(again!.id).toBe('a/1')
    expect(performance.now() - retriedAt).toBeGreaterThanOrEqual(2600)
    // BullMQ alone might wait for ten seconds.
    expect(performance.now() - retriedAt).toBeLessThan(7000)
  })

  test('what another worker adds to a host that is in flight here does not wait for the page', async () => {
    const keys = bench.nextKeys()
    const [one, other] = [await bench.queue({ keys }), await bench.queue({ keys })]
    await one.push([page('a', 1)], 'o')
    const [slow] = await one.lease(1)
    await other.push([page('a', 2)], 'p')
    const found = await vi.waitUntil(async () => {
      const leases = await one.lease(1)
      return leases.length > 0 && leases
    }, 5000)
    expect(ids(found)).toEqual(['a/2'])
    await one.commit(slow!)
  })

  test('a page with more links than one script takes: all are queued, and again only for the page that lost its reply', async () => {
    const queue = await bench.queue()
    await queue.push([page('a', 'hub')], 'o')
    const [hub] = await queue.lease(1)
    await queue.commit(hub!, { children: pages('b', 1700) })
    expect(await queue.counts()).toEqual({ ...EMPTY, waiting: 1700 })
  })

  test('a host’s name may hold anything', async () => {
    const queue = await bench.queue()
    const slot = 'a:b~1~2/%\ud800 ü{}'
    await queue.push([page('a', 1, { meta: { download_slot: slot } })], 'o')
    const [lease] = await queue.lease(1)
    expect(lease!.id).toBe('a/1')
    await queue.commit(lease!)
    expect(await queue.counts()).toEqual(EMPTY)
  })
})

describe('askers', () => {
  test('start() moves its cursor with its request, and what lies before the cursor adds nothing', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.queue({ keys })
    await queue.push([page('a', 0)], 'start/0')
    await queue.push([], 'start/1')
    expect(await bench.redis.hget(keys.record, 'startCursor')).toBe('2')
    expect(await queue.push([page('a', 1)], 'start/1')).toBe(0)
    expect(await queue.push([page('a', 2)], 'start/2')).toBe(1)
    // Redis has come back older, and elements before this one are gone.
    await expect(queue.push([page('a', 4)], 'start/4')).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
  })

  test('elements of start() that another worker has queued meanwhile are passed over, the rest is not', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.queue({ keys })
    const elements = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => ({ ...page('a', from + n), element: from + n }))
    expect(await queue.pushStart(elements(0, 5), 0, 5)).toBe(5)
    expect(await queue.pushStart(elements(0, 5), 0, 5)).toBe(0)
    expect(await queue.pushStart(elements(3, 8), 3, 8)).toBe(3)
    expect(await bench.redis.hget(keys.record, 'startCursor')).toBe('8')
    expect((await queue.counts()).waiting).toBe(8)
  })

  test('elements of start() are refused when the cursor has gone back to before them', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.queue({ keys })
    await queue.pushStart([{ ...page('a', 0), element: 0 }], 0, 4)
    await bench.redis.hset(keys.record, 'startCursor', 2)
    const late = { ...page('a', 4), element: 4 }
    await expect(queue.pushStart([late], 4, 5)).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
    expect((await queue.counts()).waiting).toBe(1)
    expect(await bench.redis.hget(keys.record, 'startCursor')).toBe('2')
  })

  test('ids are noted for an asker, and for a while after it is settled', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.queue({ keys })
    expect(await queue.push(pages('a', 1200), 'seed/1')).toBe(1200)
    expect(await queue.push(pages('a', 1201), 'seed/1')).toBe(1)
    await queue.settled('seed/1')
    expect(await queue.push([page('a', 1)], 'seed/1')).toBe(0)
    expect(await bench.redis.pttl(`${keys.noted}:seed/1`)).toBeGreaterThan(20_000)
  })

  test('clearing leaves nothing that waits, is noted, or is known to BullMQ', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.queue({ keys })
    await queue.push([...pages('a', 300), page('b', 1), page('c', 1, { priority: 3 })], 'seed/1')
    const [lease] = await queue.lease(1)
    await queue.retry(lease!, lease!.request, 9000)
    await queue.lease(1)
    await bench.redis.hset(keys.alone, 'killed', 'id')
    await queue.clear()
    await queue.close()
    const left = await bench.redis.keys(`*${keys.queueName}*`)
    const expected = ['turns:counts', 'meta', 'id', 'stalled-check', 'turns:owners', 'turns:workers']
    expect(
      left
        .map((key) => key.replace(`${BULL_PREFIX}:${keys.queueName}:`, ''))
        .filter((key) => !expected.includes(key)),
    ).toEqual([])
  })
})

describe('a request that no worker can do', () => {
  test('is held back for five seconds', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.queue({ keys })
    await queue.push([page('a', 1)], 'o')
    const [lease] = await queue.lease(1)
    await queue.reject(lease!, 'no callback parseList')
    const [seconds, micros] = await bench.redis.time()
    const [, dueAt] = await bench.redis.zrange(`${keys.turns}:late:a.test`, '0', '0', 'WITHSCORES')
    const inMs = Number(dueAt) - (Number(seconds) * 1000 + Number(micros) / 1000)
    expect(inMs).toBeGreaterThan(4500)
    expect(inMs).toBeLessThanOrEqual(5000)
  })

  test('goes to quarantine with its history when it was refused too often', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.queue({ keys, rejectedMs: 20 })
    await queue.push([page('a', 1)], 'o')
    for (let rejections = 0; rejections < 10; rejections++) {
      const [lease] = await queue.lease(1)
      expect(lease).toMatchObject({ attempt: 1, redelivered: false })
      await queue.reject(lease!, `no callback parseList (${rejections})`)
    }
    expect(await queue.counts()).toEqual({ ...EMPTY, quarantined: 1 })
    const [entry] = await new Quarantine({ redis: bench.redis, keys }).list(9)
    expect(entry).toMatchObject({ id: 'a/1', reason: 'no callback parseList (9)' })
    expect(entry!.history).toHaveLength(10)
  })

  test('one of another release’s form is refused by this worker, and its host goes on', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.queue({ keys })
    await queue.push([page('a', 1), page('a', 2)], 'o')
    const line = `${keys.turns}:line:0:a.test`
    await bench.redis.lset(line, 0, 'a/1\n\n{"v":99,"url":"http://a.test/1"}')
    expect(ids(await queue.lease(1))).toEqual(['a/2'])
    await vi.waitFor(async () => expect(await queue.counts()).toEqual({ ...EMPTY, leased: 1, delayed: 1 }))
  })
})

test('what goes back first does so before what was being taken meanwhile', async () => {
  await using proxy = await startTcpProxy({ target: bench.server.url })
  const queue = await bench.queue({ url: proxy.url, pace: { delayMs: 100 } })
  await queue.push(pages('a', 3), 'o')
  const [first] = await queue.lease(1)
  first!.started()
  await sleep(150)
  let goingBack: Promise<void> | undefined
  proxy.judgeBy((command) => {
    if (command.includes('a.test')) goingBack ??= queue.retry(first!, first!.request, 'first')
    return 'forward'
  })
  const leases: Lease[] = []
  for (let n = 0; n < 3; n++) {
    const [lease] = await queue.lease(1)
    lease!.started()
    leases.push(lease!)
  }
  await goingBack
  expect(ids(leases)).toEqual(['a/0', 'a/1', 'a/2'])
})

// Each with its own crawl, or its own server; most of it is waiting.
describe.concurrent('Redis', () => {
  test('whichever reply is lost: each page is done, and none twice', async () => {
    // A crawl like this has about sixty; the others are looked at by turns.
    const offset = Date.now() % 3
    await Promise.all(Array.from({ length: 7 }, (_, n) => lossAt(n * 9 + offset, n * 9 + 9)))
  }, 120_000)

  async function lossAt(from: number, to: number): Promise<void> {
    for (let nth = from; nth < to; nth += 3) {
      await using proxy = await startTcpProxy({ target: bench.server.url })
      const queue = await bench.queue({ url: proxy.url, concurrency: 3 })
      let scripts = 0
      proxy.cutReplyOf((command) => /^EVAL/.test(command[0]!) && scripts++ === nth)
      const fetched: string[] = []
      await queue.push([page('h0', 0)], 'start/0')
      await crawl(queue, 3, async (lease) => {
        fetched.push(lease.id)
        lease.started()
        const n = Number(lease.id.split('/')[1])
        const children = [2 * n + 1, 2 * n + 2]
          .filter((child) => child < 15)
          .map((child) => page(`h${child % 3}`, child))
        await queue.commit(lease, { children })
      })
      expect([nth, fetched.sort()]).toEqual([
        nth,
        Array.from({ length: 15 }, (_, n) => `h${n % 3}/${n}`).sort(),
      ])
      expect(await queue.counts()).toEqual(EMPTY)
      await queue.close()
    }
  }

  test('a restart that takes longer than a lock lasts: who holds a page still holds it, and the crawl goes on', async () => {
    await using own = new TurnBench()
    await own.start({ appendonly: 'always' })
    const queue = await own.queue()
    await queue.push(pages('a', 20), 'o')
    const leases = await queue.lease(3)
    await own.server.kill()
    await sleep(TURN_LOCK_MS + 500)
    await own.server.restart()
    for (const lease of leases) {
      expect(lease.signal.aborted).toBe(false)
      await queue.commit(lease)
    }
    const rest: string[] = []
    await crawl(queue, 4, async (lease) => {
      rest.push(lease.id)
      expect(lease.attempt).toBe(1)
      await queue.commit(lease)
    })
    expect(rest).toHaveLength(17)
  }, 60_000)

  test('a turn whose job is gone from BullMQ is added again', async () => {
    const keys = bench.nextKeys()
    const writer = await bench.queue({ keys })
    await writer.push([page('a', 1)], 'o')
    const [unit] = await vi.waitUntil(async () => {
      const found = await bench.redis.zrange(`${BULL_PREFIX}:${keys.queueName}:prioritized`, '0', '-1')
      return found.length > 0 && found
    })
    await bench.redis.del(
      `${BULL_PREFIX}:${keys.queueName}:prioritized`,
      `${BULL_PREFIX}:${keys.queueName}:${unit}`,
    )
    const [lease] = await vi.waitUntil(async () => {
      const found = await writer.lease(1)
      return found.length > 0 && found
    }, 12_000)
    expect(lease!.id).toBe('a/1')
  })

  test('that is silent: closing takes some seconds and no more, and what was held comes again elsewhere', async () => {
    await using proxy = await startTcpProxy({ target: bench.server.url })
    const keys = bench.nextKeys()
    const queue = await bench.queue({ keys, url: proxy.url })
    await queue.push(pages('a', 2), 'o')
    const leases = await queue.lease(2)
    proxy.hang()
    const began = performance.now()
    await queue.close()
    expect(performance.now() - began).toBeLessThan(8000)
    expect(leases.map(({ signal }) => signal.aborted)).toEqual([true, true])
    const other = await bench.queue({ keys })
    const again = await vi.waitUntil(async () => {
      const found = await other.lease(1)
      return found.length > 0 && found
    }, 15_000)
    expect(again[0]).toMatchObject({ attempt: 2, redelivered: true })
  }, 40_000)

  test('closing gives back what is held, at once', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.queue({ keys })
    await queue.push(pages('a', 3), 'o')
    const [lease] = await queue.lease(1)
    await queue.close()
    expect(lease!.signal.aborted).toBe(true)
    await expect(queue.commit(lease!)).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
    const other = await bench.queue({ keys })
    expect(await other.counts()).toEqual({ ...EMPTY, waiting: 3 })
    const began = performance.now()
    expect(await other.lease(1)).toMatchObject([{ id: 'a/0', attempt: 2 }])
    // Sooner than its lock would have run out.
    expect(performance.now() - began).toBeLessThan(TURN_LOCK_MS / 2)
  })

  test('an idle worker asks it next to nothing', async () => {
    await using proxy = await startTcpProxy({ target: bench.server.url })
    const queue = await bench.queue({ url: proxy.url })
    await queue.push([page('a', 1)], 'o')
    const [lease] = await queue.lease(1)
    await queue.commit(lease!)
    const waiting = new AbortController()
    await sleep(500)
    proxy.resetCounts()
    await sleep(5000)
    expect(proxy.commandCount).toBeLessThan(20)
    waiting.abort()
  })
})

describe.concurrent('at its maxmemory', () => {
  const isFull = (error: unknown) => error instanceof WebloomError && error.code === 'WL_QUEUE_FULL'

  async function filled(own: TurnBench): Promise<void> {
    const used = Number(/used_memory:(\d+)/.exec(await own.redis.info('memory'))![1])
    await own.redis.config('SET', 'maxmemory', String(used - 1_000_000))
  }

  test('nothing is added and nothing lost; what adds nothing goes on, until there is room', async () => {
    await using own = new TurnBench()
    await own.start()
    const queue = await own.queue({ concurrency: 8 })
    await queue.push(
      Array.from({ length: 40 }, (_, n) => page(`h${n % 10}`, n)),
      'o',
    )
    const leases = await queue.lease(4)
    await filled(own)
    await expect(queue.push([page('x', 1)], 'p')).rejects.toSatisfy(isFull)
    const children: QueuedRequest[] = [page('x', 2)]
    await expect(queue.commit(leases[0]!, { children })).rejects.toSatisfy(isFull)
    await queue.commit(leases[1]!)
    // Locks are renewed, and turns begun, though BullMQ’s own scripts are refused.
    const [lock] = await own.redis.keys('*:lock')
    const endsAtMs = async () => Date.now() + (await own.redis.pttl(lock!))
    const firstEndMs = await endsAtMs()
    await vi.waitUntil(async () => (await endsAtMs()) > firstEndMs + TURN_LOCK_MS / 6, 5 * TURN_LOCK_MS)
    const done = new Set([leases[1]!.id])
    while (done.size < 37) {
      for (const lease of await queue.lease(3)) {
        done.add(lease.id)
        await queue.commit(lease)
      }
    }
    expect(leases[0]!.signal.aborted).toBe(false)
    await own.redis.config('SET', 'maxmemory', '0')
    await queue.commit(leases[0]!, { children })
    expect(ids(await queue.lease(9))).toEqual(['x/2'])
    expect(await queue.counts()).toEqual({ ...EMPTY, leased: 3 })
  }, 60_000)

  test('a worker that comes to a full Redis begins with what is there', async () => {
    await using own = new TurnBench()
    await own.start()
    const keys = own.nextKeys()
    const writer = await own.queue({ keys })
    await writer.push([page('a', 1), page('b', 1)], 'o')
    await writer.close()
    await filled(own)
    const queue = await own.queue({ keys })
    const done = new Set<string>()
    await vi.waitFor(async () => {
      for (const lease of await queue.lease(1)) {
        done.add(lease.id)
        await queue.commit(lease)
      }
      expect(done).toEqual(new Set(['a/1', 'b/1']))
    }, 10_000)
  }, 30_000)
})
