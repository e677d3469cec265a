import { scaledTimes } from '@webloom/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrawlBench, finished, stopped, until } from '../../testing/crawl-bench.ts'
import { EMPTIED, endingWorker, ENDING_TIMES as TIMES } from '../../testing/ending-worker.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import type { RedisCrawlRecord } from './redis-crawl-record.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const never = new AbortController().signal
const workerOf = (keys: CrawlRedisKeys, options: Parameters<typeof endingWorker>[2] = {}) =>
  endingWorker(bench, keys, options)

describe('the last worker of a crawl', () => {
  test.each(['nowhere', 'before it', ...EMPTIED])(
    'that is stopped empties it; it dies at: %s',
    async (dies) => {
      const keys = bench.nextKeys()
      const last = workerOf(keys, { dies })
      await last.record.open()
      await last.ending.enter()
      expect(last.steps).toEqual(['joined'])
      expect(await stopped(last.record)).toMatchObject({ owes: true })
      if (dies !== 'before it') await last.tidy()
      const next = workerOf(keys)
      expect(await next.record.open()).toEqual({ begun: false, anew: true })
      await next.ending.enter()
      // A new crawl always finds an empty queue; what was seen goes once.
      const owed = dies === 'nowhere' ? ['start hosts', 'queue'] : EMPTIED
      expect(next.steps).toEqual([...owed, 'joined'])
    },
  )

  test.each(['nowhere', 'before it', 'owners'])(
    'that is finished and may be woken tidies its filter; it dies at: %s',
    async (dies) => {
      const keys = bench.nextKeys()
      const last = workerOf(keys, { dies, wakes: true })
      await last.record.open()
      await last.ending.enter()
      await last.record.takeStart(never)
      await last.record.startEnded(0)
      expect(await finished(last.record)).toEqual({ last: true, finished: true, owes: true })
      if (dies !== 'before it') await last.tidy()
      const next = workerOf(keys, { wakes: true })
      expect(await next.record.open()).toEqual({ begun: true })
      await next.ending.enter()
      expect(next.steps).toEqual(dies === 'nowhere' ? ['joined'] : ['owners', 'joined'])
      const beside = workerOf(keys, { wakes: true })
      await beside.record.open()
      await beside.ending.enter()
      expect(beside.steps).toEqual(['joined again'])
    },
  )

  test.each([
    ['one that comes back to its pages', true, 'webloom refresh'],
    ['another', false, 'SCHEDULER_FLUSH_ON_START'],
  ])('leaves a crawl that stays; of the next run %s is told what it has set', async (_, comesBack, says) => {
    const keys = bench.nextKeys()
    const last = workerOf(keys, { persists: true })
    await last.record.open()
    await last.ending.enter()
    await last.record.takeStart(never)
    await last.record.startEnded(0)
    await finished(last.record)
    await last.tidy()
    const next = workerOf(keys, { persists: true, begins: true, comesBack })
    await next.record.open()
    await next.ending.enter()
    expect(next.lines).toEqual([expect.stringContaining(says)])
  })

  test('does nothing where another has woken the crawl since, and leaves it running', async () => {
    const keys = bench.nextKeys()
    const last = workerOf(keys, { wakes: true })
    await last.record.open()
    await last.ending.enter()
    await last.record.takeStart(never)
    await last.record.startEnded(0)
    expect(await last.record.finish()).toBe(true)
    const next = workerOf(keys, { wakes: true })
    await next.record.open()
    await next.ending.enter()
    await last.record.ended('finished')
    expect(await last.record.leave()).toEqual({ last: false, finished: false, owes: false })
    expect(await bench.redis.hget(keys.record, 'state')).toBe('running')
    expect(await next.record.finish()).toBe(true)
    await next.record.ended('finished')
    expect(await next.record.leave()).toEqual({ last: true, finished: true, owes: true })
    const third = workerOf(keys, { wakes: true })
    await third.record.open()
    await third.ending.enter()
    await next.tidy()
    expect([next.steps, third.steps]).toEqual([['joined again'], ['owners', 'joined']])
    expect(await bench.redis.hget(keys.record, 'filterJoined')).toBe('1')
  })

  test('whose crawl ends as requests_left leaves all as it is', async () => {
    const keys = bench.nextKeys()
    const last = workerOf(keys, { requestsElsewhere: async () => 1 })
    await last.record.open()
    await last.ending.enter()
    await last.record.takeStart(never)
    await last.record.startEnded(0)
    expect(await last.record.finish()).toBe('requests_left')
    await last.record.ended('requests_left')
    expect(await last.record.leave()).toEqual({ last: true, finished: false, owes: false })
    const next = workerOf(keys)
    expect(await next.record.open()).toEqual({ begun: true })
    await next.ending.enter()
    expect([last.steps, next.steps]).toEqual([['joined'], ['joined again']])
  })

  test.each([
    ['is gone', async (keys: CrawlRedisKeys) => void (await bench.redis.del(keys.record, keys.workers))],
    ['was begun anew', async (keys: CrawlRedisKeys) => void (await bench.begun(keys, { begins: true }))],
  ])('whose crawl %s does nothing to what is there now', async (_, happens) => {
    const keys = bench.nextKeys()
    const last = workerOf(keys)
    await last.record.open()
    await last.ending.enter()
    await last.record.takeStart(never)
    await last.record.startEnded(0)
    expect(await last.record.finish()).toBe(true)
    await happens(keys)
    const before = await bench.redis.hgetall(keys.record)
    await last.record.ended('finished')
    expect(await last.record.leave()).toEqual({ last: false, finished: false, owes: false })
    expect(await bench.redis.hgetall(keys.record)).toEqual(before)
  })

  test('that could not open its filter empties nothing, and the next one does', async () => {
    const keys = bench.nextKeys()
    await finished(await bench.begun(keys, { persists: true }))
    const refused = bench.record(keys, { begins: true, flushes: true })
    await refused.open()
    expect(await refused.leave()).toMatchObject({ last: true, owes: false })
    expect(await bench.record(keys).open()).toEqual({ begun: true, anew: true })
    expect(await bench.todoOf(keys)).toEqual(['all'])
  })
})

describe('a worker that was killed just before the crawl finished', () => {
  const killed = async (keys: CrawlRedisKeys, persists: boolean) => {
    const options = { persists, times: TIMES }
    const [living, dead] = [await bench.begun(keys, options), bench.record(keys, options)]
    await dead.open()
    return { living, dead }
  }

  test.each([
    ['all', false],
    ['owners', true],
  ] as const)('is waited for, and what is owed is owed by who lives: %s', async (todo, persists) => {
    const keys = bench.nextKeys()
    const { living } = await killed(keys, persists)
    expect(await finished(living)).toEqual({ last: true, finished: true, owes: true })
    expect(await bench.todoOf(keys)).toEqual([todo])
  })

  test('two that live and wait for it: one does what is owed', async () => {
    const keys = bench.nextKeys()
    const { living } = await killed(keys, false)
    const second = bench.record(keys, { times: TIMES })
    await second.open()
    let acts = 0
    const leave = async (record: RedisCrawlRecord) => {
      if ((await finished(record)).owes) await bench.doOwed(keys, async () => void acts++, { leaves: true })
    }
    await Promise.all([leave(living), leave(second)])
    expect(acts).toBe(1)
    expect(await bench.todoOf(keys)).toEqual([])
  })

  test('and lives after all: who is heard after the end is the last', async () => {
    const keys = bench.nextKeys()
    const options = { persists: false, times: scaledTimes(10) }
    const first = await bench.begun(keys, options)
    const second = bench.record(keys, { ...options, workerId: 'slow' })
    await second.open()
    const leaving = finished(first)
    const isFinished = async () => (await bench.redis.hget(keys.record, 'state')) === 'finished'
    await until(isFinished, 5000)
    await bench.unheardFor(-10, keys, 'slow')
    expect(await leaving).toMatchObject({ last: false, owes: false })
    await second.ended('finished')
    expect(await second.leave()).toEqual({ last: true, finished: true, owes: true })
  })

  test('and comes back when the crawl is emptied: it empties nothing again', async () => {
    const keys = bench.nextKeys()
    const { living, dead } = await killed(keys, false)
    expect((await finished(living)).owes).toBe(true)
    expect(await bench.todoOf(keys)).toEqual(['all'])
    expect(await dead.finish()).toBe(true)
    await dead.ended('finished')
    expect(await dead.leave()).toMatchObject({ owes: false })
    expect(await bench.todoOf(keys)).toEqual([])
  })
})

test('what lost workers have told of hosts goes with the last worker of a crawl that has ended, and stays while it runs', async () => {
  const keys = bench.nextKeys()
  const record = await bench.begun(keys)
  await bench.redis.hset(keys.hostLists, 'lost:1:a', '{"failing":[]}')
  const other = bench.record(keys)
  await other.open()
  await other.ended('memusage_exceeded')
  await other.leave()
  expect(await bench.redis.hkeys(keys.hostLists)).toEqual(['lost:1:a'])
  await finished(record)
  expect(await bench.redis.exists(keys.hostLists)).toBe(0)
})
