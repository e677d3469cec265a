import { setTimeout as sleep } from 'node:timers/promises'
import { PROTOCOL_TIMES, type QueuedRequest, silentLogger, WebloomError } from '@webloom/core'
import { inFull, MachineLag, startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { BucketBench, crawl, ids, page, pages } from '../../testing/bucket-bench.ts'
import { leased } from '../../testing/leased.ts'

const TURN_LOCK_MS = PROTOCOL_TIMES.turns.lockMs
const bench = new BucketBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const EMPTY = { waiting: 0, delayed: 0, leased: 0, quarantined: 0 }

// Each with its own crawl, or its own server; most of it is waiting.
describe.concurrent('Redis', () => {
  test(
    'whichever reply is lost: each page is done, and none twice',
    async () => {
      // A crawl like this has about sixty; the others are looked at by turns.
      const step = inFull<number>(1, 9)
      const offset = Date.now() % step
      await Promise.all(Array.from({ length: 7 }, (_, n) => lossAt(n * 9 + offset, n * 9 + 9, step)))
    },
    inFull<number>(600_000, 120_000),
  )

  async function lossAt(from: number, to: number, step: number): Promise<void> {
    for (let nth = from; nth < to; nth += step) {
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
    await using own = new BucketBench()
    await own.start({ appendonly: 'always' })
    const queue = await own.queue()
    await queue.push(pages('a', 20), 'o')
    const leases = await leased(queue, 3)
    await own.server.kill()
    // Waits: the time without Redis is the test.
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
  })

  test('a turn whose job is gone from BullMQ is added again', async () => {
    const keys = bench.nextKeys()
    const writer = await bench.queue({ keys })
    await writer.push([page('a', 1)], 'o')
    const [unit] = await vi.waitUntil(async () => {
      const found = await bench.redis.zrange(`${keys.base}:prioritized`, '0', '-1')
      return found.length > 0 && found
    })
    await bench.redis.del(`${keys.base}:prioritized`, `${keys.base}:${unit}`)
    const [lease] = await vi.waitUntil(async () => {
      const found = await writer.lease(1)
      return found.length > 0 && found
    })
    expect(lease!.id).toBe('a/1')
  })

  test('that is silent: closing takes some seconds and no more, and what was held comes again elsewhere', async () => {
    await using proxy = await startTcpProxy({ target: bench.server.url })
    const keys = bench.nextKeys()
    const queue = await bench.queue({ keys, url: proxy.url })
    await queue.push(pages('a', 2), 'o')
    const leases = await leased(queue, 2)
    await vi.waitFor(async () => expect(await bench.redis.keys(`${keys.frontier}:started:*`)).toHaveLength(1))
    proxy.hang()
    using lag = new MachineLag()
    const began = performance.now()
    await queue.close()
    expect(performance.now() - began).toBeLessThan(8000 + lag.ms)
    expect(leases.map(({ signal }) => signal.aborted)).toEqual([true, true])
    const other = await bench.queue({ keys })
    const again = await vi.waitUntil(async () => {
      const found = await other.lease(1)
      return found.length > 0 && found
    })
    expect(again[0]).toMatchObject({ attempt: 2, redelivered: true })
    // A finished crawl with SCHEDULER_PERSIST is not emptied: what the silent one has left must go by itself.
    const left = await bench.redis.keys(`${keys.frontier}:started:*`)
    await vi.waitFor(async () => {
      const ttls = await Promise.all([...left, `${keys.frontier}:heard`].map((key) => bench.redis.pttl(key)))
      expect(Math.min(...ttls)).toBeGreaterThan(0)
    })
  })

  test('that does not let the worker in any more: closing does not wait for what it refuses', async () => {
    await using own = new BucketBench()
    await own.start()
    await own.server.command('ACL', 'SETUSER', 'leaver', 'on', '>pw', '~*', '&*', '+@all')
    const warned: unknown[] = []
    const logger = { ...silentLogger, warn: (fields: unknown) => void warned.push(fields) }
    const queue = await own.queue({ url: own.server.url.replace('://', '://leaver:pw@'), logger })
    await queue.push(pages('a', 2), 'o')
    const [lease] = await leased(queue, 1)
    await own.server.command('ACL', 'DELUSER', 'leaver')
    await queue.close()
    expect(warned).toEqual([
      { err: expect.objectContaining({ message: expect.stringContaining('WRONGPASS') }) },
    ])
    expect(lease!.signal.aborted).toBe(true)
  })

  test('closing gives back what is held, at once', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.queue({ keys })
    await queue.push(pages('a', 3), 'o')
    const [lease] = await leased(queue, 1)
    await queue.close()
    expect(lease!.signal.aborted).toBe(true)
    await expect(queue.commit(lease!)).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
    const other = await bench.queue({ keys })
    expect(await other.counts()).toEqual({ ...EMPTY, waiting: 3 })
    using lag = new MachineLag()
    const began = performance.now()
    expect(await other.lease(1)).toMatchObject([{ id: 'a/0', attempt: 2 }])
    // Sooner than its lock would have run out.
    expect(performance.now() - began).toBeLessThan(TURN_LOCK_MS / 2 + lag.ms)
  })

  test('that takes no writes for a moment: what was on its way back to it comes again', async () => {
    await using own = new BucketBench()
    await own.start()
    await using proxy = await startTcpProxy({ target: own.server.url })
    const queue = await own.queue({ url: proxy.url, concurrency: 8 })
    await queue.push(pages('a', 6), 'o')
    const [held] = await leased(queue, 1)
    // They are taken for a caller that has gone when they come, and lie here.
    let gone = new AbortController()
    proxy.judgeBy((command) => {
      if (!/^EVAL/i.test(command[0]!)) return 'forward'
      gone.abort()
      return { holdReplyMs: 50 }
    })
    await vi.waitUntil(async () => {
      // What was sent first may have been another question: then none were asked for.
      gone = new AbortController()
      await queue.lease(5, gone.signal)
      return (await queue.counts()).leased > 1
    })
    proxy.judgeBy(() => 'forward')
    await own.redis.config('SET', 'min-replicas-to-write', '1')
    const pausing = queue.commit(held!, { host: { pauseMs: 100 } })
    await expect(pausing).rejects.toMatchObject({ code: 'WL_REDIS_AWAY' })
    await own.redis.config('SET', 'min-replicas-to-write', '0')
    await queue.commit(held!)
    const rest: string[] = []
    await crawl(queue, 4, async (lease) => {
      rest.push(lease.id)
      await queue.commit(lease)
    })
    expect(rest.sort()).toEqual(ids(pages('a', 6).slice(1)))
    expect(await queue.counts()).toEqual(EMPTY)
  })

  test('an idle worker asks it next to nothing', async () => {
    await using proxy = await startTcpProxy({ target: bench.server.url })
    const keys = bench.nextKeys()
    const busy = await bench.queue({ keys })
    await busy.push([page('a', 1)], 'o')
    // As long as it is held, more may come.
    const [held] = await leased(busy, 1)
    const idle = await bench.queue({ keys, url: proxy.url })
    const stop = new AbortController()
    proxy.resetCounts()
    const waiting = idle.lease(1, stop.signal)
    // Waits: the promise is of these seconds: next to nothing is asked in them, from the first question on.
    await sleep(5000)
    expect(proxy.commandCount).toBeLessThan(20)
    stop.abort()
    expect(await waiting).toEqual([])
    await busy.commit(held!)
  })
})

describe.concurrent('at its maxmemory', () => {
  const isFull = (error: unknown) => error instanceof WebloomError && error.code === 'WL_QUEUE_FULL'

  async function filled(own: BucketBench): Promise<void> {
    const used = Number(/used_memory:(\d+)/.exec(await own.redis.info('memory'))![1])
    await own.redis.config('SET', 'maxmemory', String(used - 1_000_000))
  }

  test('nothing is added and nothing lost; what adds nothing goes on, until there is room', async () => {
    await using own = new BucketBench()
    await own.start()
    const queue = await own.queue({ concurrency: 8 })
    await queue.push(
      Array.from({ length: 40 }, (_, n) => page(`h${n % 10}`, n)),
      'o',
    )
    const leases = await leased(queue, 4)
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
  })

  test('a lock that ran out, as Redis was away, is taken again', async () => {
    await using own = new BucketBench()
    await own.start()
    const queue = await own.queue()
    await queue.push([page('a', 1)], 'o')
    const [lease] = await leased(queue, 1)
    await filled(own)
    const [lock] = await own.redis.keys('*:lock')
    await own.redis.del(lock!)
    await vi.waitUntil(() => own.redis.exists(lock!), TURN_LOCK_MS)
    await queue.commit(lease!)
    expect(await queue.counts()).toEqual(EMPTY)
  })

  test('a worker that comes to a full Redis begins with what is there', async () => {
    await using own = new BucketBench()
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
    })
  })
})
