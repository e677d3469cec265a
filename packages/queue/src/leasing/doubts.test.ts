/** Links in doubt on Redis: beyond what the contract of queues says, as workers die, replies are lost and Redis is full. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Request, type RequestQueue, scaledTimes, silentLogger } from '@webloom/core'
import { MachineLag, startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { BucketBench } from '../../testing/bucket-bench.ts'
import { JobBench } from '../../testing/job-bench.ts'
import { quarantined } from '../../testing/quarantined.ts'
import { crawlFrontier } from '../outside/crawl-frontier.ts'
import { crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { packRequest } from './packed-request.ts'

const TIMES = scaledTimes(0.1)
const inDoubt = (path: string) => ({
  id: path,
  request: new Request(`http://a.test/${path}`),
  inDoubt: 'page',
})
const isScript = ([name]: readonly string[]) => name === 'EVALSHA' || name === 'EVAL'
let crawls = 0

describe.each(['turns', 'job'] as const)('QUEUE_MODE=%s', (mode) => {
  const bench = mode === 'turns' ? new BucketBench() : new JobBench()
  beforeAll(() => bench.start())
  afterAll(() => bench.stop())

  const nextKeys = () => crawlRedisKeys({ spider: `${mode}${++crawls}`, crawlId: null })
  const worker = async (
    keys = nextKeys(),
    url = bench.server.url,
    logger = silentLogger,
    more: { mayDoubt?: () => boolean } = {},
  ) => {
    const queue = await bench.queue({ keys, url, logger, times: TIMES, ...more })
    await queue.open()
    return queue
  }
  const taken = async (queue: RequestQueue) => (await queue.doubts.take(10)).map(({ id }) => id)

  test('one that was taken is nobody else’s, until its worker has said nothing of it for some time', async () => {
    const keys = nextKeys()
    const [one, other] = [await worker(keys), await worker(keys)]
    await one.push([inDoubt('x')], 'o')
    await vi.waitFor(async () => expect(await taken(one)).toEqual(['x']))
    expect(await taken(other)).toEqual([])
    const takenAt = performance.now()
    await vi.waitFor(async () => expect(await taken(other)).toEqual(['x']))
    expect(performance.now() - takenAt).toBeGreaterThan(0.8 * TIMES.doubts.heldMs)
    await Promise.all([one.close(), other.close()])
  })

  test('a worker that was told that there are none looks only after those that it has set aside itself', async () => {
    const keys = nextKeys()
    let mayDoubt = false
    const told = await worker(keys, undefined, undefined, { mayDoubt: () => mayDoubt })
    const other = await worker(keys)
    await other.push([inDoubt('x')], 'o')
    // Waits: by then it is ripe for whoever looks.
    await sleep(1.5 * TIMES.doubts.waitMs)
    expect(await taken(told)).toEqual([])
    mayDoubt = true
    expect(await taken(told)).toEqual(['x'])
    mayDoubt = false
    await told.push([inDoubt('y')], 'o2')
    await vi.waitFor(async () => expect(await taken(told)).toEqual(['y']))
    await told.doubts.end([], ['x', 'y'])
    await told.close()
    const starting = await worker(keys, undefined, undefined, { mayDoubt: () => false })
    await starting.pushStart([{ ...inDoubt('z'), element: 0 }], 0, 1)
    await vi.waitFor(async () => expect(await taken(starting)).toEqual(['z']))
    await Promise.all([starting.close(), other.close()])
  })

  test('one that is still in doubt is asked about again soon, by any worker', async () => {
    const keys = nextKeys()
    const [one, other] = [await worker(keys), await worker(keys)]
    await one.push([inDoubt('x')], 'o')
    await vi.waitFor(async () => expect(await taken(one)).toEqual(['x']))
    expect(await one.doubts.end([], [], ['x', 'gone'])).toEqual([])
    using lag = new MachineLag()
    const endedAt = performance.now()
    await vi.waitFor(async () => expect(await taken(other)).toEqual(['x']), { interval: 5 })
    expect(performance.now() - endedAt).toBeLessThan(0.5 * TIMES.doubts.heldMs + lag.ms)
    await Promise.all([one.close(), other.close()])
  })

  test('one that is met again before the filter has heard that it is queued is not queued twice', async () => {
    const queue = await worker()
    await queue.push([inDoubt('x')], 'o')
    await vi.waitFor(async () => expect(await taken(queue)).toEqual(['x']))
    const { inDoubt: _, ...x } = inDoubt('x')
    expect(await queue.doubts.end([x], [])).toEqual(['x'])
    await queue.push([{ ...inDoubt('x'), inDoubt: 'later' }, inDoubt('y')], 'p')
    expect(await queue.counts()).toMatchObject({ waiting: 1, delayed: 1 })
    await queue.close()
  })

  test('a reply that is lost: the same is answered, and nothing stands twice', async () => {
    await using proxy = await startTcpProxy({ target: bench.server.url })
    const [keys] = [nextKeys()]
    const [queue, other] = [await worker(keys, proxy.url), await worker(keys)]
    await other.push([inDoubt('x'), inDoubt('y')], 'o')
    const { inDoubt: _, ...x } = inDoubt('x')
    const fault = proxy.cutReplyOf((command) => isScript(command) && command.includes('y'))
    expect(await queue.doubts.end([x], ['y'])).toEqual(['x'])
    expect(fault.count).toBe(1)
    expect(await other.counts()).toMatchObject({ waiting: 1, delayed: 0 })
    await Promise.all([queue.close(), other.close()])
  })

  test('on a Redis that is full doubts end all the same', async () => {
    const queue = await worker()
    await queue.push([inDoubt('x'), inDoubt('y')], 'o')
    const { server } = bench
    await server.command('CONFIG', 'SET', 'maxmemory', '1')
    try {
      await vi.waitFor(async () => expect((await taken(queue)).sort()).toEqual(['x', 'y']))
      const { inDoubt: _, ...x } = inDoubt('x')
      expect(await queue.doubts.end([x], ['y'])).toEqual(['x'])
    } finally {
      await server.command('CONFIG', 'SET', 'maxmemory', '0')
    }
    expect(await queue.counts()).toMatchObject({ waiting: 1, delayed: 0 })
    await queue.close()
  })

  test('one that this release cannot read is quarantined, and told', async () => {
    const keys = nextKeys()
    const warn = vi.fn()
    const queue = await worker(keys, bench.server.url, { ...silentLogger, warn })
    await queue.push([inDoubt('x')], 'o')
    const text = packRequest(inDoubt('x')).replace('"v":1', '"v":9')
    await bench.server.command('HSET', keys.doubts, 'x', text)
    await vi.waitFor(async () => {
      expect(await taken(queue)).toEqual([])
      expect(await queue.counts()).toMatchObject({ delayed: 0, quarantined: 1 })
    })
    expect(warn).toHaveBeenCalledWith(
      expect.objectContaining({ id: 'x' }),
      expect.stringContaining('webloom quarantine list'),
    )
    const [entry] = await quarantined({ redis: bench.connect(), keys })
    expect(entry).toMatchObject({ id: 'x', reason: expect.stringContaining('form 9') })
    await queue.close()
  })

  test('the frontier that webloom export reads has them', async () => {
    const keys = nextKeys()
    const queue = await worker(keys)
    await queue.push([inDoubt('x'), { id: 'y', request: inDoubt('y').request }], 'o')
    const ids: string[] = []
    for await (const { id } of crawlFrontier({ redis: bench.connect(), keys })) ids.push(id)
    expect(ids.sort()).toEqual(['x', 'y'])
    await queue.close()
  })
})
