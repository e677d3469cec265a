/** A worker whose filter was filled by another crawl, or is not the one that its crawl has filled. */

import { PROTOCOL_TIMES } from '@webloom/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrawlBench, finished, stopped } from '../../testing/crawl-bench.ts'
import { EMPTIED, ENDING_TIMES, endingWorker, type LostBefore } from '../../testing/ending-worker.ts'
import { adoptCrawl } from '../outside/crawl-control.ts'
import { readCrawl } from '../outside/crawl-view.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { joinedRunOf } from './crawl-run.ts'
import type { RedisCrawlRecord } from './redis-crawl-record.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const never = new AbortController().signal
const workerOf = (keys: CrawlRedisKeys, options: Parameters<typeof endingWorker>[2] = {}) =>
  endingWorker(bench, keys, options)

describe('a worker whose filter knows a crawl that the queue has lost', () => {
  const known = (isAlone = true): LostBefore => ({ isKnown: true, isAlone })

  test('is refused where what was seen is to stay, again and again', async () => {
    const [keys, lost] = [bench.nextKeys(), known()]
    for (let n = 0; n < 2; n++) {
      const worker = workerOf(keys, { lost, persists: true })
      await worker.record.open()
      await expect(worker.ending.enter()).rejects.toThrow('lost before')
      expect(worker.steps).toEqual([])
      await worker.record.leave()
      const seen = await readCrawl({ redis: bench.redis, keys, statsKey: 'none' })
      expect([seen.state, seen.finishReason]).toEqual(['stopped', 'crawl_lost'])
    }
    lost.isKnown = false
    const next = workerOf(keys, { lost, persists: true })
    await next.record.open()
    await next.ending.enter()
    expect(next.steps).toEqual(['joined'])
    lost.isKnown = true
    const beside = workerOf(keys, { lost, persists: true })
    await beside.record.open()
    await beside.ending.enter()
    expect(beside.steps, 'of a run that has begun').toEqual(['joined again'])
  })

  test('is refused before shards are emptied that are left', async () => {
    const worker = workerOf(bench.nextKeys(), { lost: known(), persists: true, shards: 3 })
    await worker.record.open()
    await expect(worker.ending.enter()).rejects.toThrow('lost before')
    expect(worker.steps).toEqual([])
  })

  test.each([1, 3])(
    'and is told to end while it waits empties and joins nothing: %s shards',
    async (shards) => {
      const ending = new AbortController()
      const waiting = Promise.withResolvers<void>()
      const lost = { ...known(), isAwaited: true, onWait: waiting.resolve }
      const worker = workerOf(bench.nextKeys(), { lost, persists: true, ...(shards > 1 && { shards }) })
      await worker.record.open()
      const entered = worker.ending.enter(ending.signal)
      await waiting.promise
      expect(worker.ending.waits).toMatch(/until an earlier crawl of this name/)
      ending.abort()
      await entered
      expect([worker.steps, worker.ending.waits]).toEqual([[], undefined])
      expect(await worker.record.isFilterJoined()).toBe(false)
    },
  )

  test('asks once, in a crawl of several shards, too', async () => {
    const lost: LostBefore = { isKnown: false, isAlone: true }
    const worker = workerOf(bench.nextKeys(), { lost, persists: true, shards: 3 })
    await worker.record.open()
    await worker.ending.enter()
    expect(worker.steps).toEqual(['queue', 'joined'])
    expect(lost.looks).toBe(1)
  })

  test('empties it without SCHEDULER_PERSIST, says so, and crawls', async () => {
    const [keys, lost] = [bench.nextKeys(), known()]
    const worker = workerOf(keys, { lost })
    await worker.record.open()
    await worker.ending.enter()
    expect(worker.steps).toEqual(['filter', 'joined'])
    expect(worker.lines).toEqual([expect.stringContaining('that was not finished with it')])
    const beside = workerOf(keys, { lost })
    await beside.record.open()
    await beside.ending.enter()
    expect(beside.steps).toEqual(['joined again'])
  })

  test('empties it with SCHEDULER_FLUSH_ON_START, too', async () => {
    const lost = { ...known(), isNoted: false }
    const worker = workerOf(bench.nextKeys(), { lost, persists: true, flushes: true })
    await worker.record.open()
    await worker.ending.enter()
    expect(worker.steps).toEqual([...EMPTIED, 'filter', 'joined'])
    expect(worker.lines).toEqual([expect.stringContaining('SCHEDULER_FLUSH_ON_START is true')])
  })

  test('is refused without SCHEDULER_PERSIST, too, where another crawl uses the filter', async () => {
    const worker = workerOf(bench.nextKeys(), { lost: known(false) })
    await worker.record.open()
    await expect(worker.ending.enter()).rejects.toThrow('lost before')
  })
})

describe('a worker with another filter that takes a crawl over', () => {
  const takenOver = async (keys: CrawlRedisKeys, persists = false) => {
    // Nobody counts as lost in the time that this takes.
    const times = { ...ENDING_TIMES, members: PROTOCOL_TIMES.members }
    const first = workerOf(keys, { place: 'here', persists, times })
    await first.record.open()
    await first.ending.enter()
    const second = workerOf(keys, { place: 'there', persists, times })
    await second.record.open()
    await first.record.ended('shutdown')
    expect(await first.record.leave()).toMatchObject({ last: false })
    await second.ending.enter()
    return { second, crawl: crawlOf(second.record) }
  }
  const crawlOf = ({ runName }: RedisCrawlRecord) => runName.split(' ')[0]

  test('the next crawl is another one for the filter that was left: that knows what was not finished', async () => {
    const keys = bench.nextKeys()
    const { second, crawl } = await takenOver(keys)
    expect(await stopped(second.record)).toMatchObject({ owes: true })
    await second.tidy()
    expect(second.steps).toEqual(['joined again', ...EMPTIED])
    const lost = { isKnown: true, isAlone: true }
    const next = workerOf(keys, { place: 'here', lost })
    await next.record.open()
    expect(crawlOf(next.record)).not.toBe(crawl)
    await next.ending.enter()
    expect(next.steps).toEqual(['start hosts', 'queue', 'filter', 'joined'])
  })

  test('one that is brought requests after its end, and one that follows a finished one, are others, too', async () => {
    const keys = bench.nextKeys()
    const { second, crawl } = await takenOver(keys)
    await stopped(second.record)
    await second.tidy()
    const { name } = await joinedRunOf({ redis: bench.redis, keys })
    const { runName } = await adoptCrawl({ redis: bench.redis, keys })
    expect([name, runName.split(' ')[0] === crawl]).toEqual([runName, false])
    const others = bench.nextKeys()
    const kept = await takenOver(others, true)
    await kept.second.record.takeStart(never)
    await kept.second.record.startEnded(0)
    await finished(kept.second.record)
    await kept.second.tidy()
    const next = workerOf(others, { persists: true, begins: true })
    await next.record.open()
    expect(crawlOf(next.record)).not.toBe(kept.crawl)
  })

  test('is refused where its filter knows an earlier crawl; what the others have had is not emptied', async () => {
    const keys = bench.nextKeys()
    const first = workerOf(keys, { place: 'here' })
    await first.record.open()
    await first.ending.enter()
    await bench.unheardFor(
      ENDING_TIMES.members.lostAfterMs + 1,
      keys,
      ...(await bench.redis.hkeys(keys.workers)),
    )
    const second = workerOf(keys, { place: 'there', lost: { isKnown: true, isAlone: true } })
    await second.record.open()
    await expect(second.ending.enter()).rejects.toThrow('left behind')
    expect(second.steps).toEqual([])
    expect(await bench.redis.hget(keys.record, 'refusedAs'), 'the run is well').toBeNull()
  })

  test('one whose filter stays goes on under the name that it had', async () => {
    const keys = bench.nextKeys()
    const first = workerOf(keys, { place: 'here' })
    await first.record.open()
    await first.ending.enter()
    await stopped(first.record)
    await first.tidy()
    const next = workerOf(keys, { place: 'here, emptied' })
    await next.record.open()
    expect(crawlOf(next.record)).toBe(crawlOf(first.record))
  })
})
