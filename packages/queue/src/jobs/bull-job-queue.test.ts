import { type Lease, PROTOCOL_TIMES, type QueuedRequest, Request } from '@webloom/core'
import { requestQueueContract, withoutSlotNow } from '@webloom/core/contract'
import { MachineLag, startTcpProxy } from '@webloom/testkit'
import { Queue } from 'bullmq'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { bullKey, ids, JobBench, listeningLogger, page, pages } from '../../testing/job-bench.ts'
import { leased } from '../../testing/leased.ts'
import type { BullJobQueue } from './bull-job-queue.ts'

const bench = new JobBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())
afterEach(() => bench.closeAll())

requestQueueContract(
  { describe, test },
  {
    name: 'BullJobQueue',
    create: async ({ order = 'priority', ...pace }) => {
      const queue = bench.queue({ order, pace })
      return { queue, dispose: () => queue.close() }
    },
    createRefusing: async () => {
      const queue = await bench.open()
      return { queue, refuse: (isRefused) => bench.refuseWrites(isRefused), dispose: async () => {} }
    },
    deviations: [
      ...withoutSlotNow('its slots are held by many workers; the cluster’s desk asks Redis'),
      {
        test: 'hosts take turns',
        reason:
          'BullMQ’s order knows no hosts: its jobs are taken by priority, then as they came (QUEUE_MODE=turns does)',
      },
      {
        test: 'a host that is paused by an order starts nothing until the order is taken back, others go on',
        reason:
          'what a worker has given back to BullMQ for a paused host lies delayed there, for a quarter of an hour at most: BullMQ finds no jobs by host',
      },
    ],
  },
)

const lostLease = { code: 'WL_LEASE_LOST' }
describe('jobs', () => {
  test('BullMQ’s own queue sees each request as a job, in the state it is in', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.open({ keys })
    await queue.push([page('1/2:3%', { priority: 7 }), page(2), page(3)], 'o')
    const [urgent, second] = await leased(queue, 2)
    await queue.retry(second!, second!.request, 60_000)
    const bull = new Queue(keys.queueName, { prefix: keys.bullPrefix, connection: bench.connect() })
    expect(await bull.getJobCounts('prioritized', 'delayed', 'active')).toEqual({
      prioritized: 1,
      delayed: 1,
      active: 1,
    })
    const job = await bull.getJob('r-1/2%3A3%25')
    expect(await job?.getState()).toBe('active')
    expect(job?.priority).toBe(2 ** 20 - 7)
    expect(job?.data).toBe('1/2:3%\n\n{"v":1,"url":"http://a.test/1/2:3%","p":7}')
    expect((await bull.getDelayed()).map((delayed) => delayed.id)).toEqual(['r-2'])
    await queue.commit(urgent!)
    expect(await bull.getJob('r-1/2%3A3%25')).toBeUndefined()
    await bull.close()
  })

  test('a million more or less: the order of priorities is kept, and no job goes before all', async () => {
    const queue = await bench.open()
    const priorities = [-2_000_000, 1_000_000, 0, 5_000_000, -1_000_000, 999_999, 1]
    await queue.push(
      priorities.map((priority) => page(priority, { priority })),
      'o',
    )
    const order: string[] = []
    for (let n = 0; n < priorities.length; n++) {
      const [lease] = await leased(queue, 1)
      order.push(lease!.id)
      await queue.commit(lease!)
    }
    expect(order).toEqual(['5000000', '1000000', '999999', '1', '0', '-1000000', '-2000000'])
  })

  test('BullMQ’s events stay short, however many jobs are taken', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.open({ keys })
    await queue.push(pages(400), 'o')
    for (let left = 400; left > 0; ) {
      const leases = await queue.lease(50)
      left -= leases.length
      await Promise.all(leases.map((lease) => queue.commit(lease)))
    }
    expect(await bench.connect().xlen(bullKey(keys, 'events'))).toBeLessThan(400)
  })

  test('clearing leaves nothing in Redis but what expires, and takes leases away', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.open({ keys })
    await queue.push(pages(1200), 'seed/1')
    await queue.push([page('delayed'), page('lost')], 'seed/2')
    await queue.settled('seed/2')
    const leases = await leased(queue, 3)
    await queue.retry(leases[0]!, leases[0]!.request, 60_000)
    await queue.clear()
    expect(await queue.counts()).toEqual({ waiting: 0, delayed: 0, leased: 0, quarantined: 0 })
    expect(leases[1]!.signal.aborted).toBe(true)
    await expect(queue.commit(leases[1]!)).rejects.toMatchObject(lostLease)
    const redis = bench.connect()
    const left: string[] = []
    for (const key of await redis.keys(`${keys.base}*`)) {
      if ((await redis.pttl(key)) === -1) left.push(key)
    }
    expect(left.map((key) => key.replace(/^.*:/, '')).sort()).toEqual(['stalled-check'])
  })
})

describe('askers', () => {
  test('start() moves its cursor with its request, and what lies before the cursor adds nothing', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.open({ keys })
    expect(await queue.push([page(0)], 'start/0')).toBe(1)
    expect(await queue.push([page(1)], 'start/1')).toBe(1)
    expect(await bench.connect().hget(keys.record, 'startCursor')).toBe('2')
    expect(await queue.push([page(2)], 'start/0')).toBe(0)
    expect(await queue.push([], 'start/2')).toBe(0)
    expect(await bench.connect().hget(keys.record, 'startCursor')).toBe('3')
    // Redis has come back older, and elements before this one are gone.
    await expect(queue.push([page(4)], 'start/4')).rejects.toMatchObject(lostLease)
    expect((await queue.counts()).waiting).toBe(2)
  })

  test('elements of start() that another worker has queued meanwhile are passed over, the rest is not', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.open({ keys })
    const elements = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => ({ ...page(from + n), element: from + n }))
    expect(await queue.pushStart(elements(0, 5), 0, 5)).toBe(5)
    expect(await queue.pushStart(elements(0, 5), 0, 5)).toBe(0)
    expect(await queue.pushStart(elements(3, 8), 3, 8)).toBe(3)
    expect(await bench.connect().hget(keys.record, 'startCursor')).toBe('8')
    expect((await queue.counts()).waiting).toBe(8)
  })

  test('elements of start() are refused when the cursor has gone back to before them', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.open({ keys })
    await queue.pushStart([{ ...page(0), element: 0 }], 0, 4)
    await bench.connect().hset(keys.record, 'startCursor', 2)
    const late = { ...page(4), element: 4 }
    await expect(queue.pushStart([late], 4, 5)).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
    expect((await queue.counts()).waiting).toBe(1)
    expect(await bench.connect().hget(keys.record, 'startCursor')).toBe('2')
  })

  test('ids are noted for an asker, for a week at most, and for a while after it is settled', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.open({ keys })
    await queue.push([page(1), page(2)], 'seed/7')
    const noted = `${keys.noted}:seed/7`
    expect(await bench.connect().scard(noted)).toBe(2)
    for (const key of [noted, keys.noted])
      expect(await bench.connect().pttl(key)).toBeGreaterThan(6 * 86_400_000)
    await queue.settled('seed/7')
    expect(await bench.connect().pttl(noted)).toBeGreaterThan(20_000)
    expect(await bench.connect().exists(keys.noted)).toBe(0)
  })

  test('a batch of thousands is stored in parts; the same batch again adds nothing', async () => {
    const queue = await bench.open()
    expect(await queue.push(pages(1700), 'page+0')).toBe(1700)
    expect(await queue.push(pages(1700), 'page+0')).toBe(0)
    expect((await queue.counts()).waiting).toBe(1700)
  })

  test('a Redis that takes no writes for a while is one that is away, also where an asker settles', async () => {
    const queue = await bench.open()
    await queue.push([page(1)], 'seed/1')
    await bench.server.command('CONFIG', 'SET', 'min-replicas-to-write', '1')
    await expect(queue.settled('seed/1')).rejects.toMatchObject({ code: 'WL_REDIS_AWAY' })
    await bench.server.command('CONFIG', 'SET', 'min-replicas-to-write', '0')
    await queue.settled('seed/1')
  })

  test('what is in the queue already is not queued twice, whoever brings it', async () => {
    const queue = await bench.open()
    await queue.push([page(1), page(2)], 'seed/1')
    const [parent] = await leased(queue, 1)
    expect(await queue.push([page(2)], 'seed/2')).toBe(0)
    await queue.commit(parent!, { children: [page(2), page(3)] })
    expect((await queue.counts()).waiting).toBe(2)
  })
})

describe('two workers', () => {
  test('share the requests: each goes to one of them', async () => {
    const keys = bench.nextKeys()
    const [a, b] = [await bench.open({ keys }), await bench.open({ keys })]
    await a.push(pages(200), 'o')
    const seen: string[] = []
    const work = async (queue: BullJobQueue) => {
      for (let leases = await queue.lease(8); leases.length > 0; leases = await queue.lease(8)) {
        seen.push(...ids(leases))
        await Promise.all(leases.map((lease) => queue.commit(lease)))
      }
    }
    await Promise.all([work(a), work(b)])
    expect(seen.length).toBe(200)
    expect(new Set(seen).size).toBe(200)
  })

  test('one waits while the other holds the last request, and gets its children', async () => {
    const keys = bench.nextKeys()
    const [a, b] = [await bench.open({ keys }), await bench.open({ keys })]
    await a.push([page('parent')], 'o')
    const [parent] = await a.lease(1)
    const waiting = leased(b, 1)
    await a.commit(parent!, { children: [page('child')] })
    expect(ids(await waiting)).toEqual(['child'])
  })

  test('one that is closed gives back all it had at once, as perhaps fetched where it was handed out', async () => {
    const keys = bench.nextKeys()
    const [a, b] = [
      await bench.open({ keys, pace: { concurrency: 1 } }),
      await bench.open({ keys, pace: { concurrency: 0 } }),
    ]
    await a.push(pages(3), 'o')
    const [held] = await a.lease(3)
    const other = leased(b, 3)
    await a.close()
    expect(held!.signal.aborted).toBe(true)
    const taken = (await other).sort((one, two) => one.id.localeCompare(two.id))
    expect(
      taken.map(({ id, attempt, suspect }: Lease & { suspect?: boolean }) => [id, attempt, suspect]),
    ).toEqual([
      ['0', 2, false],
      ['1', 1, false],
      ['2', 1, false],
    ])
    expect(await bench.connect().llen(bullKey(keys, 'active'))).toBe(3)
  })

  test('what a worker is not asked for goes back to the queue, for others', async () => {
    const keys = bench.nextKeys()
    const [paused, other] = [await bench.open({ keys, pace: { delayMs: 100 } }), await bench.open({ keys })]
    await paused.push(pages(2), 'o')
    const [first] = await paused.lease(2)
    await paused.commit(first!)
    expect(ids(await leased(other, 1, 8000))).toEqual(['1'])
  })
})

describe('hosts that must wait', () => {
  const slow = (n: number): QueuedRequest => ({
    id: `slow${n}`,
    request: new Request(`http://slow.test/${n}`, { meta: { download_slot: 'slow' } }),
  })

  test('three hundred of a slow host hold up no other, and are not looked at again and again', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.open({ keys, pace: { delayMs: 200 } })
    await queue.push(
      Array.from({ length: 300 }, (_, n) => slow(n)),
      'o',
    )
    await queue.push([page('other')], 'p')
    using lag = new MachineLag()
    const startedAt = performance.now()
    let slowStarts = 0
    let otherAfterMs: number | undefined
    while (performance.now() - startedAt < 3000) {
      for (const lease of await queue.lease(16)) {
        lease.started()
        if (lease.id === 'other') otherAfterMs = performance.now() - startedAt
        else slowStarts++
        await queue.commit(lease)
      }
    }
    expect(otherAfterMs).toBeLessThan(2000 + lag.ms)
    // 16 at the best: at 0, 200, … 3 000 ms.
    expect(slowStarts).toBeGreaterThanOrEqual(10)
    const redis = bench.connect()
    let takes = 0
    for (let n = 0; n < 300; n++) takes += Number(await redis.hget(bullKey(keys, `r-slow${n}`), 'ats'))
    expect(takes).toBeLessThan(600)
  })

  test('what was taken and not handed out waits, too, when its host is paused', async () => {
    const queue = await bench.open()
    await queue.push([page(1)], 'o')
    const [first] = await queue.lease(1)
    // Whoever asks for the second has gone when it comes: it lies ready.
    const asking = new AbortController()
    const waiting = queue.lease(1, asking.signal)
    await queue.counts()
    asking.abort()
    await queue.push([page(2)], 'p')
    await vi.waitFor(async () => expect((await queue.counts()).leased).toBe(2))
    // Redis has answered this one after the take.
    await queue.counts()
    const pausedAt = performance.now()
    await queue.commit(first!, { host: { pauseMs: 300 } })
    expect(await waiting).toEqual([])
    expect(ids(await leased(queue, 1))).toEqual(['2'])
    expect(performance.now() - pausedAt).toBeGreaterThanOrEqual(295)
  })
})

test('a fetch that BullMQ never answers is noticed, told, and made anew', async () => {
  await using proxy = await startTcpProxy({ target: bench.server.url })
  const { promise: isHeld, resolve: held } = Promise.withResolvers<void>()
  let heldCount = 0
  // The wait for news is answered, and the answer never comes.
  proxy.judgeBy(([command]) => {
    if (command !== 'BZPOPMIN' || heldCount++ > 0) return 'forward'
    held()
    return { holdReplyMs: 3_600_000 }
  })
  const { logger, warned } = listeningLogger()
  const times = { ...PROTOCOL_TIMES, jobs: { ...PROTOCOL_TIMES.jobs, fetchMsMax: 1500 } }
  const queue = await bench.open({ url: proxy.url, logger, times })
  const waiting = new AbortController()
  const first = queue.lease(1, waiting.signal)
  await isHeld
  await queue.push([page(1)], 'o')
  const leases = await first
  const untilMs = performance.now() + 6000
  while (leases.length === 0 && performance.now() < untilMs) leases.push(...(await queue.lease(1)))
  expect(ids(leases)).toEqual(['1'])
  expect(warned.join()).toContain('BullMQ hangs')
  await queue.commit(leases[0]!)
})
