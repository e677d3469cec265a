/** A run that begins in the place of one that its schedule has begun, and that could not go on. */

import { silentLogger } from '@webloom/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { CrawlHistory } from '../history/crawl-history.ts'
import { crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { beginRun, crawlWanted } from './begin-run.ts'
import { CrawlSchedules } from './crawl-schedules.ts'
import { noteFire } from './fire-counts.ts'
import { type Schedule, scheduleKeys } from './schedule-queue.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

let spiders = 0

async function scheduledRun({ shards = 1 } = {}) {
  const spider = `nightly${++spiders}`
  const schedule: Schedule = {
    ...{ name: spider, spider, crawlId: null, cron: '0 6 * * *', tz: 'Europe/Berlin' },
    flags: { argument: ['tag=love'] },
  }
  const keys = crawlRedisKeys(schedule)
  const schedules = new CrawlSchedules(bench.redis, {})
  await schedules.set(schedule)
  const { flags } = schedule
  const begins = (fire: string) =>
    beginRun({
      ...{ redis: bench.redis, keys, fire, schedule: spider, flags },
      ...{ persists: false, flushes: false, shards },
    })
  const { run } = await begins('six')
  const [dueAt, at] = [Date.now(), Date.now()]
  await noteFire(bench.redis, scheduleKeys(schedule), schedule, {
    dueAt,
    at,
    outcome: 'begun',
    fire: 'six',
    run,
  })
  const history = new CrawlHistory({
    ...{ redis: bench.redis, keys, statsKey: bench.statsKey(keys), hours: 0, logger: silentLogger },
  })
  const lastRun = async () => (await schedules.all()).find(({ name }) => name === spider)?.lastRun
  return { keys, run, flags, begins, history, lastRun }
}

test('the one before was stopped by a signal, and its queue emptied: the list tells how the new one stands', async () => {
  const { keys, run, history, lastRun } = await scheduledRun()
  expect(await lastRun()).toMatchObject({ run, state: 'running' })
  const worker = bench.record(keys, { persists: false })
  await worker.open()
  await worker.ended('shutdown')
  await worker.leave()
  await history.ended()
  expect(await lastRun()).toMatchObject({ run, state: 'stopped' })
  const next = bench.record(keys, { persists: false })
  await next.open()
  const now = await bench.redis.hget(keys.record, 'run')
  expect(now).not.toBe(run)
  expect(await lastRun()).toMatchObject({ run: now, state: 'running' })
  await next.leave()
})

test('shards of those before were lost, one after the other: the new one is the schedule’s, and its next hour begins none beside it', async () => {
  const { keys, run, flags, begins, history, lastRun } = await scheduledRun({ shards: 2 })
  await history.sample()
  let lost = run
  for (const _time of [1, 2]) {
    const next = bench.record(keys, { shards: 2, lostRun: async () => lost })
    await next.open()
    const now = await bench.redis.hget(keys.record, 'run')
    expect(now).not.toBe(lost)
    expect(await crawlWanted(bench.redis, keys)).toMatchObject({ isWanted: true, isScheduled: true, flags })
    expect(await lastRun()).toMatchObject({ run: now, state: 'running' })
    await history.sample()
    // A worker that slept through the end of the one before is to hear that it was lost.
    expect(await bench.redis.hget(keys.record, 'runsBefore')).not.toContain(lost)
    lost = now!
    await bench.redis.del(keys.workers)
  }
  expect(await begins('seven')).toEqual({ outcome: 'going', run: lost })
  // Who interrupts all workers by a signal has it go on when there are workers again.
  await bench.redis.hset(keys.record, 'state', 'stopped', 'finishReason', 'shutdown')
  expect(await crawlWanted(bench.redis, keys)).toMatchObject({ isWanted: true })
})
