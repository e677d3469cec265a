/** Redis goes away just when BullMQ's worker, which hung, is made anew. */

import { type Logger, PROTOCOL_TIMES, Request, type RequestQueue, silentLogger } from '@webloom/core'
import { InUse, startRedis, startTcpProxy, type TcpProxy } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { expect, test, vi } from 'vitest'
import { BucketQueue } from '../buckets/bucket-queue.ts'
import { BullJobQueue } from '../jobs/bull-job-queue.ts'
import { MemoryHostClock } from '../politeness/memory-host-clock.ts'
import { crawlRedisKeys } from './crawl-redis-keys.ts'

const TIMES = {
  ...PROTOCOL_TIMES,
  jobs: { ...PROTOCOL_TIMES.jobs, fetchMsMax: 1500 },
  turns: { ...PROTOCOL_TIMES.turns, blockMsMax: 1000 },
}
const page = (n: number) => ({ id: String(n), request: new Request(`http://a.test/${n}`) })
const PACE = { delayMs: 0, concurrency: 2, randomize: false }

/** Resolves when the answer to a worker that waits for news is held. */
function holdAnswerToWait(proxy: TcpProxy): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isHeld = false
  proxy.judgeBy(([command]) => {
    if (command !== 'BZPOPMIN' || isHeld) return 'forward'
    isHeld = true
    resolve()
    return { holdReplyMs: 3_600_000 }
  })
  return promise
}

test.concurrent.each(['turns', 'job'] as const)(
  'in mode %s a worker goes on when Redis is back',
  async (mode) => {
    await using server = await startRedis()
    await using proxy = await startTcpProxy({ target: server.url })
    await using used = new InUse()
    const connect = () => {
      // As a crawl has them: opened by whoever first uses it.
      const redis = new Redis(proxy.url, {
        lazyConnect: true,
        maxRetriesPerRequest: null,
        retryStrategy: () => 50,
      })
      redis.on('error', () => {})
      used.defer(() => redis.disconnect())
      return redis
    }
    // Redis is away, so that it is made anew is no WARNING.
    const told: string[] = []
    const logger: Logger = {
      ...silentLogger,
      debug: (...line: unknown[]) => told.push(JSON.stringify(line)),
    }
    const keys = crawlRedisKeys({ spider: 'away', crawlId: null })
    const common = { redis: connect(), keys, workerId: 'test:1', concurrency: 2, times: TIMES, logger }
    await common.redis.connect()
    const queue: RequestQueue =
      mode === 'turns'
        ? new BucketQueue({ ...common, hosts: { pace: () => PACE } })
        : new BullJobQueue({ ...common, clock: new MemoryHostClock({ pace: PACE }) })
    used.defer(() => queue.close())
    await queue.open()
    const ending = new AbortController()
    used.defer(() => ending.abort())
    // Who has something in hand waits for more.
    await queue.push([page(0)], 'o')
    await queue.lease(1)
    const held = holdAnswerToWait(proxy)
    const first = queue.lease(1, ending.signal).catch(() => [])
    await held
    await proxy.down()
    await vi.waitFor(() => expect(told.join()).toContain('made anew'), { interval: 1 })
    await proxy.up()
    await queue.push([page(1)], 'o')
    const leases = [...(await first)]
    const untilMs = performance.now() + 6000
    while (leases.length === 0 && performance.now() < untilMs)
      leases.push(...(await queue.lease(1, ending.signal).catch(() => [])))
    expect(leases.map(({ id }) => id)).toEqual(['1'])
  },
)
