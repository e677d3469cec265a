import { Queue } from 'bullmq'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { bullKey, ids, JobBench, listeningLogger, page } from '../../testing/job-bench.ts'
import { leased } from '../../testing/leased.ts'
import { quarantined } from '../../testing/quarantined.ts'
import { historyKey } from '../leasing/quarantine-history.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'

const bench = new JobBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())
afterEach(() => bench.closeAll())

describe('requests that no worker can do', () => {
  /** As if the delay of the refused request was over. */
  async function hurry(keys: CrawlRedisKeys): Promise<void> {
    const redis = bench.connect()
    for (const id of await redis.zrangebyscore(bullKey(keys, 'delayed'), '-inf', '+inf')) {
      await redis.zadd(bullKey(keys, 'delayed'), 1, id)
    }
    await redis.zadd(bullKey(keys, 'marker'), '1', '1')
  }

  test('one that is refused by ten in a row is quarantined with what they said', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.open({ keys })
    await queue.push([page(1)], 'o')
    for (let refusal = 1; refusal <= 10; refusal++) {
      const [lease] = await leased(queue, 1)
      expect(lease?.redelivered).toBe(false)
      await queue.reject(lease!, `no callback parseList (${refusal})`)
      if (refusal < 10) expect((await queue.counts()).delayed).toBe(1)
      await hurry(keys)
    }
    expect(await queue.counts()).toEqual({ waiting: 0, delayed: 0, leased: 0, quarantined: 1 })
    const [entry] = await quarantined({ redis: bench.connect(), keys })
    expect(entry).toMatchObject({ id: '1', url: 'http://a.test/1', reason: 'no callback parseList (10)' })
    expect(entry!.history.length).toBe(10)
    expect(entry!.history[0]!.what).toBe('the worker gave it back: no callback parseList (1)')
    expect(await queue.lease(1)).toEqual([])
  })

  test('a refused request is not handed out for five seconds', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.open({ keys })
    await queue.push([page(1)], 'o')
    const [lease] = await queue.lease(1)
    await queue.reject(lease!, 'no callback')
    const score = await bench.connect().zscore(bullKey(keys, 'delayed'), 'r-1')
    const [seconds, micros] = await bench.connect().time()
    const inMs = Number(score) / 4096 - (Number(seconds) * 1000 + Number(micros) / 1000)
    expect(inMs).toBeGreaterThan(4500)
    expect(inMs).toBeLessThanOrEqual(5000)
  })

  test('a normal end in between makes them count from the beginning', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.open({ keys })
    await queue.push([page(1)], 'o')
    for (let refusal = 1; refusal <= 12; refusal++) {
      const [lease] = await leased(queue, 1)
      if (refusal === 5) await queue.requeue(lease!)
      else await queue.reject(lease!, 'no callback')
      await hurry(keys)
    }
    expect((await queue.counts()).quarantined).toBe(0)
    const [lease] = await leased(queue, 1)
    await queue.commit(lease!)
    expect(await bench.connect().hlen(historyKey(keys))).toBe(0)
  })

  test('what this release cannot read is left for another, and so is a job that somebody else has added', async () => {
    const keys = bench.nextKeys()
    const { logger, warned } = listeningLogger()
    const queue = await bench.open({ keys, logger })
    await queue.push([page(1), page(2)], 'o')
    const newer = JSON.stringify('1\n\n{"v":9,"url":"http://a.test/1"}')
    await bench.connect().hset(bullKey(keys, 'r-1'), 'data', newer)
    const bull = new Queue(keys.queueName, { prefix: keys.bullPrefix, connection: bench.connect() })
    await bull.add('mail', { to: 'me' })
    const leases = await leased(queue, 1)
    expect(ids(leases)).toEqual(['2'])
    await queue.lease(2)
    await vi.waitFor(async () => expect((await queue.counts()).delayed).toBe(2))
    expect(warned.join()).toContain('form 9; this release reads form 1')
    const marked = JSON.parse((await bench.connect().hget(bullKey(keys, 'r-1'), 'data'))!) as string
    expect(marked).toBe('1\n1:0:1:0\n{"v":9,"url":"http://a.test/1"}')
    await bull.close()
  })
})
