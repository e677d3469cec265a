import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { BucketBench, ids, page, pages } from '../../testing/bucket-bench.ts'
import { leased } from '../../testing/leased.ts'
import { quarantined } from '../../testing/quarantined.ts'
import { BUCKETS, bucketOf } from '../politeness/bucket-of.ts'

const bench = new BucketBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const EMPTY = { waiting: 0, delayed: 0, leased: 0, quarantined: 0 }

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
    const [lease] = await leased(queue, 1)
    await queue.retry(lease!, lease!.request, 9000)
    await queue.lease(1)
    await bench.redis.hset(keys.alone, 'killed', 'id')
    await queue.clear()
    await queue.close()
    const left = await bench.redis.keys(`*${keys.queueName}*`)
    const expected = ['frontier:counts', 'meta', 'id', 'stalled-check', 'frontier:owners', 'frontier:workers']
    expect(
      left.map((key) => key.replace(`${keys.base}:`, '')).filter((key) => !expected.includes(key)),
    ).toEqual([])
  })
})

describe('a request that no worker can do', () => {
  test('is held back for five seconds', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.queue({ keys })
    await queue.push([page('a', 1)], 'o')
    const [lease] = await leased(queue, 1)
    await queue.reject(lease!, 'no callback parseList')
    const [seconds, micros] = await bench.redis.time()
    const [, dueAt] = await bench.redis.zrange(
      `${keys.frontier}:late:${bucketOf('a.test', BUCKETS)}`,
      '0',
      '0',
      'WITHSCORES',
    )
    const inMs = Number(dueAt) - (Number(seconds) * 1000 + Number(micros) / 1000)
    expect(inMs).toBeGreaterThan(4500)
    expect(inMs).toBeLessThanOrEqual(5000)
  })

  test('goes to quarantine with its history when it was refused too often', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.queue({ keys, rejectedMs: 20 })
    await queue.push([page('a', 1)], 'o')
    for (let rejections = 0; rejections < 10; rejections++) {
      const [lease] = await leased(queue, 1)
      expect(lease).toMatchObject({ attempt: 1, redelivered: false })
      await queue.reject(lease!, `no callback parseList (${rejections})`)
    }
    expect(await queue.counts()).toEqual({ ...EMPTY, quarantined: 1 })
    const [entry] = await quarantined({ redis: bench.redis, keys })
    expect(entry).toMatchObject({ id: 'a/1', reason: 'no callback parseList (9)' })
    expect(entry!.history).toHaveLength(10)
  })

  test('one of another release’s form is refused by this worker, and its host goes on', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.queue({ keys })
    await queue.push([page('a', 1), page('a', 2)], 'o')
    const lines = `${keys.frontier}:lines:${bucketOf('a.test', BUCKETS)}`
    const line = (await bench.redis.hget(lines, 'a.test'))!
    await bench.redis.hset(lines, 'a.test', line.replace('"v":1', '"v":9'))
    expect(ids(await queue.lease(1))).toEqual(['a/2'])
    await vi.waitFor(async () => expect(await queue.counts()).toEqual({ ...EMPTY, leased: 1, delayed: 1 }))
  })
})
