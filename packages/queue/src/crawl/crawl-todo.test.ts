import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { CrawlBench, finished, stopped, waits } from '../../testing/crawl-bench.ts'
import { adoptCrawl, reopenCrawl } from '../outside/crawl-control.ts'
import { readCrawl } from '../outside/crawl-view.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import type { Todo } from './crawl-todo.ts'
import type { RedisCrawlRecordOptions } from './redis-crawl-record.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const never = new AbortController().signal
const forEver = new Promise<void>(() => {})

/** Gates of one test: what is under way, until it may go on. */
function gate() {
  const [reached, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const wait = () => {
    reached.resolve()
    return open.promise
  }
  return { wait, reached: reached.promise, open: open.resolve }
}

describe('what is owed', () => {
  test('is done by one worker of the run, and the others wait until it is done', async () => {
    const keys = bench.nextKeys()
    const records = [1, 2, 3].map(() => bench.record(keys, { flushes: true, redis: bench.connect() }))
    for (const record of records) expect(await record.open()).toMatchObject({ anew: true })
    const emptied = Promise.withResolvers<void>()
    let acts = 0
    const act = () => {
      acts++
      return emptied.promise
    }
    const workers = records.map(() => bench.watched())
    const doing = workers.map(({ redis }) => bench.doOwed(keys, act, { redis }))
    let ended = 0
    for (const one of doing) void one.finally(() => ended++)
    await vi.waitUntil(() => workers.filter(({ hasAskedAgain }) => hasAskedAgain()).length >= 2)
    expect([acts, ended]).toEqual([1, 0])
    emptied.resolve()
    expect((await Promise.all(doing)).sort()).toEqual([false, false, true])
    expect(acts).toBe(1)
    const late = bench.record(keys, { flushes: true })
    expect(await late.open()).toEqual({ begun: true })
    expect(await bench.todoOf(keys)).toEqual([])
  })

  test('and fails is still owed, and another worker does it', async () => {
    const keys = bench.nextKeys()
    const [a, b] = [bench.record(keys, { flushes: true }), bench.record(keys)]
    await a.open()
    const failing = bench.doOwed(keys, () => Promise.reject(new Error('Redis is full')))
    await expect(failing).rejects.toThrow('Redis is full')
    expect(await b.open()).toMatchObject({ begun: true, anew: true })
    expect(await bench.todoOf(keys)).toEqual(['all'])
  })

  test('as the last worker leaves holds up the next crawl, so that nothing of it is deleted', async () => {
    const keys = bench.nextKeys()
    const first = bench.record(keys)
    await first.open()
    expect(await stopped(first)).toEqual({ last: true, finished: false, owes: true })
    const emptying = gate()
    const doing = bench.doOwed(keys, emptying.wait, { leaves: true })
    await emptying.reached
    const next = bench.record(keys)
    await next.open()
    const waiter = bench.watched()
    const waiting = bench.doOwed(keys, undefined, { redis: waiter.redis })
    // What another is at is no business of one that leaves.
    expect(await bench.doOwed(keys, () => forEver, { leaves: true })).toBe(false)
    await waits(waiting, waiter)
    emptying.open()
    expect(await doing).toBe(true)
    expect(await waiting).toBe(false)
  })

  test.each<[string, Partial<RedisCrawlRecordOptions>, Partial<RedisCrawlRecordOptions>, Todo]>([
    ['persisted, stays', { persists: true }, {}, 'queue'],
    ['persisted, stays for one that does not persist', { persists: true }, { persists: false }, 'queue'],
    ['persisted, goes where that is asked for', { persists: true }, { flushes: true }, 'all'],
    ['went at the end of the crawl, and what came since stays', { persists: false }, {}, 'queue'],
  ])('to a new crawl: what was seen and %s', async (_, before, then, expected) => {
    const keys = bench.nextKeys()
    if ((await finished(await bench.begun(keys, before))).owes) await bench.doOwed(keys)
    const next = bench.record(keys, { ...before, ...then, begins: true })
    expect(await next.open()).toEqual({ begun: false, anew: true })
    expect(await bench.todoOf(keys)).toEqual([expected])
  })

  test('to a new crawl is all, where the one before was to empty it and was killed', async () => {
    const keys = bench.nextKeys()
    await (await bench.begun(keys)).finish()
    await bench.redis.del(keys.workers)
    await bench.record(keys, { begins: true }).open()
    // It dies before it has emptied anything, and so does who comes next.
    await expect(bench.doOwed(keys, () => Promise.reject(new Error('died')))).rejects.toThrow('died')
    expect(await bench.todoOf(keys)).toEqual(['all'])
  })

  test('is more when a new crawl begins meanwhile: who did less has not done it', async () => {
    const keys = bench.nextKeys()
    expect(await finished(await bench.begun(keys, { persists: true }))).toMatchObject({ owes: true })
    const tidying = gate()
    const told: Todo[] = []
    const doing = bench.doOwed(
      keys,
      (todo) => {
        told.push(todo)
        return tidying.wait()
      },
      { leaves: true },
    )
    await tidying.reached
    const next = bench.record(keys, { persists: true, begins: true, flushes: true })
    expect(await next.open()).toEqual({ begun: false, anew: true })
    const waiter = bench.watched()
    const waiting = bench.doOwed(keys, async (todo) => void told.push(todo), { redis: waiter.redis })
    await waits(waiting, waiter)
    tidying.open()
    expect(await doing).toBe(true)
    expect(await waiting).toBe(true)
    expect(told).toEqual(['owners', 'all'])
  })

  test('SCHEDULER_FLUSH_ON_START acts once in a crawl: not when it is resumed, nor under a worker that is at it', async () => {
    const keys = bench.nextKeys()
    const first = bench.record(keys, { flushes: true, persists: true })
    await first.open()
    await bench.doOwed(keys)
    await first.takeStart(never)
    await first.startMoved(0, 2)
    await stopped(first)
    const second = bench.record(keys, { flushes: true, persists: true })
    expect(await second.open()).toEqual({ begun: true })
    expect(await second.takeStart(never)).toBe(2)
    await second.close()

    const other = bench.nextKeys()
    await bench.record(other).open()
    expect(await bench.record(other, { flushes: true }).open()).toEqual({ begun: true })
  })

  test.each([
    ['import', (redis: Redis, keys: CrawlRedisKeys) => adoptCrawl({ redis, keys })],
    ['quarantine retry', (redis: Redis, keys: CrawlRedisKeys) => reopenCrawl({ redis, keys })],
  ])('and is just being done is waited for by webloom %s, and else owed no more', async (_, brings) => {
    const keys = bench.nextKeys()
    await finished(await bench.begun(keys))
    const emptying = gate()
    const doing = bench.doOwed(keys, emptying.wait, { leaves: true })
    await emptying.reached
    const waiter = bench.watched()
    const bringing = brings(waiter.redis, keys)
    await waits(bringing, waiter)
    emptying.open()
    await doing
    await bringing
    const resumed = bench.record(keys)
    expect(await resumed.open()).toEqual({ begun: true })
    expect(await stopped(resumed)).toMatchObject({ owes: true })
    await brings(bench.redis, keys)
    expect(await bench.todoOf(keys)).toEqual([])
  })

  test.each([
    ['owed', '0', 'all'],
    ['owed', '1', 'queue'],
    // Of a worker that has died since.
    ['1000000000000 host:1:1', '0', 'all'],
  ])('was written as flush %s, keepsMet %s by an earlier release', async (flush, keepsMet, expected) => {
    const keys = bench.nextKeys()
    await bench.begun(keys)
    await bench.redis.hset(keys.record, { flush, keepsMet, filterJoined: '1' })
    const view = () => readCrawl({ redis: bench.redis, keys, statsKey: bench.statsKey(keys) })
    expect((await view()).flushing).toBe(true)
    expect(await bench.record(keys).open()).toEqual({ begun: true, anew: true })
    expect(await bench.todoOf(keys)).toEqual([expected])
    expect((await view()).flushing).toBe(false)
    expect(await bench.redis.hmget(keys.record, 'todo', 'flush', 'keepsMet')).toEqual([null, null, null])
  })
})
