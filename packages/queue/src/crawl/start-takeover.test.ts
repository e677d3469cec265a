import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrawlBench, waits } from '../../testing/crawl-bench.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start({ appendonly: 'always' }))
afterAll(() => bench.stop())

const never = new AbortController().signal

describe('start()', () => {
  test('is run by one worker at a time; the next one begins where it left', async () => {
    const keys = bench.nextKeys()
    const waiter = bench.watched()
    const [a, b] = [bench.record(keys), bench.record(keys, { redis: waiter.redis })]
    await a.open()
    await b.open()
    expect(await a.takeStart(never)).toBe(0)
    const waiting = b.takeStart(never)
    await a.startMoved(0, 1)
    await a.startMoved(1, 2)
    await waits(waiting, waiter)
    await a.leave()
    expect(await waiting).toBe(2)
    await b.startEnded(2)
    expect(await b.takeStart(never)).toBeNull()
  })

  test('who lost it is refused with its next element, and the cursor never goes back', async () => {
    const keys = bench.nextKeys()
    const [slow, quick] = [bench.record(keys), bench.record(keys)]
    await slow.open()
    await quick.open()
    await slow.takeStart(never)
    await slow.startMoved(0, 2)
    // As if it had stood still for six seconds.
    await bench.redis.hset(keys.record, 'startUntil', 1)
    expect(await quick.takeStart(never)).toBe(2)
    await quick.startMoved(2, 9)
    await expect(slow.startMoved(2, 3)).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
    await expect(slow.startEnded(3)).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
    await quick.startMoved(3, 4)
    expect(await bench.redis.hget(keys.record, 'startCursor')).toBe('9')
    await quick.close()
    await slow.close()
  })

  test('is run again when Redis goes back to before its end, or to before its last elements', async () => {
    const keys = bench.nextKeys()
    const record = bench.record(keys)
    await record.open()
    await record.takeStart(never)
    await record.startMoved(0, 7)
    await bench.redis.hset(keys.record, 'startCursor', 5)
    await expect(record.startMoved(7, 8)).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
    await expect(record.startEnded(7)).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
    expect(await record.takeStart(never)).toBe(5)
    await record.startMoved(5, 8)
    await record.startEnded(8)
    await bench.redis.hdel(keys.record, 'startEnded')
    await bench.redis.hset(keys.record, 'startCursor', 6)
    expect(await record.finish()).toBe(false)
    expect(await record.takeStart(never)).toBe(6)
    expect(await record.finish()).toBe(false)
    await record.startEnded(6)
    expect(await record.finish()).toBe(true)
  })

  test('who waits for it gives up when told to', async () => {
    const keys = bench.nextKeys()
    const [a, b] = [bench.record(keys), bench.record(keys)]
    await a.open()
    await b.open()
    await a.takeStart(never)
    const stopping = new AbortController()
    const waiting = b.takeStart(stopping.signal)
    stopping.abort()
    expect(await waiting).toBeNull()
    await a.close()
  })
})
