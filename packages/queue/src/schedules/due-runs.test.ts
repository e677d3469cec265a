import { setTimeout as sleep } from 'node:timers/promises'
import { silentLogger } from '@webloom/core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { CrawlHistory } from '../history/crawl-history.ts'
import { clearCrawl } from '../outside/crawl-control.ts'
import { crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { beginRun, crawlWanted } from './begin-run.ts'
import { CrawlSchedules } from './crawl-schedules.ts'
import { type DueRun, DueRuns } from './due-runs.ts'
import { noteFire, readScheduledRuns } from './fire-counts.ts'
import { refuseRun } from './refuse-run.ts'
import {
  MAX_SCHEDULES_PER_SPIDER,
  openScheduleQueue,
  type Schedule,
  scheduleKeys,
  servedKey,
  storedSchedule,
} from './schedule-queue.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

/** Where a process dies, or is slow: elsewhere a slow machine must not lose a lock. */
const SHORT_LOCK_MS = 300
let spiders = 0

/** The schedules of a spider of its own, and the processes that wait for its runs. */
function ofOneSpider() {
  const spider = `spider${++spiders}`
  const schedule: Schedule = {
    ...{ name: spider, spider, crawlId: null, cron: '0 6 * * *', tz: 'Europe/Berlin' },
    flags: { argument: ['tag=love'] },
  }
  const keys = crawlRedisKeys(schedule)
  const schedules = new CrawlSchedules(bench.redis, {})
  const waiting = async (lockMs?: number) => {
    const due = new DueRuns({
      redis: bench.redis,
      keys: scheduleKeys(schedule),
      laterMs: 20,
      ...(lockMs !== undefined && { lockMs }),
    })
    await due.open()
    return due
  }
  /** Its hour comes: the job that waits for it is due now. */
  const itsHourComes = async () => {
    const queue = await openScheduleQueue(bench.redis, scheduleKeys(schedule))
    const [job] = await queue.getDelayed()
    await job!.changeDelay(0)
    await queue.close()
  }
  const begun = (fire: string, shards = 1) =>
    beginRun({
      ...{ redis: bench.redis, keys, fire, schedule: spider, flags: schedule.flags },
      ...{ persists: false, flushes: false, shards },
    })
  const begin = async (fire: string, shards?: number) => (await begun(fire, shards)).outcome
  return { spider, schedule, schedules, keys, waiting, itsHourComes, begun, begin }
}

/** Asks until there is one. */
const taken = async (due: DueRuns) => {
  let run = await due.take()
  await vi.waitFor(async () => {
    run ??= await due.take()
    expect(run).toBeDefined()
  })
  return run!
}

test('two processes that ask at once: exactly one is given the run that is due', async () => {
  const { schedule, schedules, waiting, itsHourComes } = ofOneSpider()
  await schedules.set(schedule)
  const [a, b] = [await waiting(), await waiting()]
  expect([await a.take(), await b.take()]).toEqual([undefined, undefined])
  await itsHourComes()
  const given = (await Promise.all([a.take(), b.take(), a.take(), b.take()])).filter(
    (one) => one !== undefined,
  )
  expect(given.map((one) => one.schedule)).toEqual([schedule])
  await given[0]!.settled('begun')
  const [seen] = (await schedules.all()).filter((one) => one.name === schedule.name)
  expect(seen).toMatchObject({ isServed: true, last: { outcome: 'begun' } })
  // The next one is at six in Berlin.
  expect(seen!.nextAt.toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin' })).toBe('06:00:00')
  expect(seen!.nextAt.getTime()).toBeGreaterThan(Date.now())
  await Promise.all([a.close(), b.close()])
})

test('BullMQ begins what clocks skip: set on the day before, and taken then', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2027-09-03T12:00:00Z') })
  const { schedule, schedules, waiting } = ofOneSpider()
  await schedules.set({ ...schedule, cron: '0 0 * * *', tz: 'America/Santiago' })
  const nextAt = async () => (await schedules.all()).find(({ name }) => name === schedule.name)!.nextAt
  expect(await nextAt()).toEqual(new Date('2027-09-04T04:00:00Z'))
  const due = await waiting()
  vi.setSystemTime(new Date('2027-09-04T04:00:01Z'))
  await (await taken(due)).settled('begun')
  // The midnight of the fifth is skipped there.
  expect(await nextAt()).toEqual(new Date('2027-09-05T04:00:00Z'))
  await due.close()
  vi.useRealTimers()
})

test('a process that dies before it has begun the run: another begins it, and no run is begun twice', async () => {
  const { schedule, schedules, keys, waiting, itsHourComes, begun, begin } = ofOneSpider()
  await schedules.set(schedule)
  const [dies, lives] = [await waiting(SHORT_LOCK_MS), await waiting(SHORT_LOCK_MS)]
  await itsHourComes()
  const lost = await taken(dies)
  expect(await begin(lost.fire)).toBe('begun')
  const run = await bench.redis.hget(keys.record, 'run')
  // It is finished before the other process finds what was not told.
  await bench.redis.hset(keys.record, 'state', 'finished')
  const again = await taken(lives)
  expect(again.fire).toBe(lost.fire)
  // Another run was begun meanwhile: what is noted is this one.
  expect(await begin('another')).toBe('begun')
  await bench.redis.hset(keys.record, 'state', 'finished')
  expect(await begun(again.fire)).toEqual({ outcome: 'begun', run })
  await again.settled('begun', { run: run! })
  expect((await schedules.all()).find(({ name }) => name === schedule.name)).toMatchObject({
    last: { dueAt: again.dueAt.getTime(), outcome: 'begun', run },
  })
  expect(await lives.take()).toBeUndefined()
  // Of its times there is one job, not one for each that took it.
  expect(await bench.redis.zcard(`${keys.schedules}:delayed`)).toBe(1)
  await Promise.all([dies.close(), lives.close()])
})

test('what keeps a run from beginning for longer than its lock gives it to nobody else', async () => {
  const { schedule, schedules, waiting } = ofOneSpider()
  await schedules.set(schedule)
  await schedules.runNow(schedule.name)
  const [slow, other] = [await waiting(SHORT_LOCK_MS), await waiting(SHORT_LOCK_MS)]
  const due = await taken(slow)
  const until = performance.now() + 4 * SHORT_LOCK_MS
  await due.during(async () => {
    while (performance.now() < until) {
      expect(await other.take()).toBeUndefined()
      // Waits: as a process does between two looks.
      await sleep(20)
    }
  })
  await due.settled('failed', { why: 'it hangs' })
  expect(await other.take()).toBeUndefined()
  await Promise.all([slow.close(), other.close()])
})

test('while a run goes on none is begun; one that was stopped goes on; one that has finished is followed by another', async () => {
  const { keys, begun, begin } = ofOneSpider()
  expect(await begin('a')).toBe('begun')
  const first = await bench.redis.hget(keys.record, 'run')
  expect(await crawlWanted(bench.redis, keys)).toEqual({
    isWanted: true,
    isScheduled: true,
    flags: { argument: ['tag=love'] },
    asked: expect.stringContaining(first!),
  })
  expect(await begin('b')).toBe('going')
  await bench.redis.hset(keys.record, { state: 'stopped', finishReason: 'stopped' })
  expect((await crawlWanted(bench.redis, keys)).isWanted).toBe(false)
  // It was due while the run went on, and is over.
  expect(await begin('b')).toBe('going')
  expect(await begin('c')).toBe('resumed')
  expect(await bench.redis.hmget(keys.record, 'run', 'state')).toEqual([first, 'running'])
  await bench.redis.hset(keys.record, { state: 'finished', finishReason: 'finished' })
  expect(await begin('d', 6)).toBe('begun')
  expect(await bench.redis.hmget(keys.record, 'run', 'shards')).toEqual([
    expect.not.stringMatching(first!),
    '6',
  ])
  const last = await bench.redis.hget(keys.record, 'run')
  expect(await begun('a')).toEqual({ outcome: 'begun', run: first })
  expect(await bench.redis.hget(keys.record, 'run')).toBe(last)
})

test('a fire that an earlier release has seen to is not seen to again', async () => {
  const { keys, begun } = ofOneSpider()
  const { run } = await begun('new')
  await bench.redis.hset(keys.record, { fires: 'b a ', state: 'finished' })
  expect(await begun('a')).toEqual({ outcome: 'done', run })
  expect(await begun('b')).toEqual({ outcome: 'done', run })
})

test('a run that a signal has interrupted wants workers again, and is still its schedule’s when it was emptied', async () => {
  const { keys, begin } = ofOneSpider()
  await begin('a')
  const worker = bench.record(keys, { persists: false })
  await worker.open()
  await worker.ended('shutdown')
  await worker.leave()
  expect(await bench.redis.hget(keys.record, 'emptied')).toBe('1')
  const wanted = { isWanted: true, isScheduled: true, flags: { argument: ['tag=love'] } }
  expect(await crawlWanted(bench.redis, keys)).toMatchObject(wanted)
  const next = bench.record(keys, { persists: false })
  expect(await next.open()).toMatchObject({ begun: false })
  expect(await crawlWanted(bench.redis, keys)).toMatchObject(wanted)
  const run = await bench.redis.hget(keys.record, 'run')
  expect(await begin('a')).toBe('begun')
  expect(await bench.redis.hget(keys.record, 'run')).toBe(run)
  await next.leave()
})

test('each fire is counted by how it went, once: also one that is noted again after a kill, and one that its workers refuse', async () => {
  const { spider, schedule, schedules, keys, waiting, begun } = ofOneSpider()
  const counts = async (crawl = spider) =>
    (await readScheduledRuns(bench.redis, {})).find(({ id }) => id === crawl)?.counts
  const none = { begun: 0, resumed: 0, going: 0, failed: 0 }
  await schedules.set(schedule)
  await schedules.set({ ...schedule, name: `${spider}@news`, crawlId: 'news' })
  expect(await counts()).toEqual(none)
  await schedules.runNow(spider)
  const [dies, lives] = [await waiting(SHORT_LOCK_MS), await waiting(SHORT_LOCK_MS)]
  const lost = await taken(dies)
  const { outcome, run } = await begun(lost.fire)
  const last = {
    dueAt: lost.dueAt.getTime(),
    at: Date.now(),
    outcome: 'begun',
    fire: lost.fire,
    run,
  } as const
  // It is killed before it has told BullMQ.
  await noteFire(bench.redis, scheduleKeys(schedule), schedule, last)
  await (await taken(lives)).settled(outcome, { run })
  expect(await counts()).toEqual({ ...none, begun: 1 })
  await schedules.runNow(spider)
  await (await taken(lives)).settled('going')
  const refused = () => refuseRun({ redis: bench.redis, name: schedule }, 'RECRAWL is off')
  expect([await refused(), await refused()]).toEqual([spider, undefined])
  expect(await counts()).toEqual({ ...none, begun: 1, going: 1, failed: 1 })
  expect(await counts(`${spider}@news`)).toEqual(none)
  await schedules.set({ ...schedule, name: `${spider}@news`, crawlId: 'more' })
  expect(await counts(`${spider}@news`)).toBeUndefined()
  await schedules.remove(`${spider}@news`)
  expect(await counts(`${spider}@more`)).toBeUndefined()
  await Promise.all([dies.close(), lives.close()])
  expect(await bench.redis.hget(keys.record, 'finishReason')).toBe('refused')
})

test('runs that were missed as nobody was there are made up once', async () => {
  const { schedule, schedules, keys, waiting } = ofOneSpider()
  const { nextAt } = await schedules.set({ ...schedule, cron: '* * * * * *' })
  // The second one is missed, too.
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(nextAt.getTime() + 1000))
  const due = await waiting()
  const first = await taken(due)
  const takenAt = Date.now()
  await first.settled('begun')
  expect(first.dueAt).toEqual(nextAt)
  expect(await bench.redis.zcard(`${keys.schedules}:delayed`)).toBe(1)
  expect((await taken(due)).dueAt.getTime()).toBeGreaterThan(takenAt - 1000)
  await due.close()
})

test('a run that was missed as nobody was there, while another had not ended, is made up once when that has', async () => {
  const { spider, schedule, schedules, keys, waiting, begun, begin } = ofOneSpider()
  const { nextAt } = await schedules.set({ ...schedule, cron: '* * * * * *' })
  expect(await begin('old')).toBe('begun')
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(nextAt.getTime()))
  const due = await waiting()
  const seen = async (run: DueRun) => {
    const { outcome, run: id } = await begun(run.fire)
    await run.settled(outcome, { run: id })
    return outcome
  }
  const missed = await taken(due)
  expect([missed.dueAt, await seen(missed)]).toEqual([nextAt, 'going'])
  // Those at whose hour somebody is there are none of it.
  await schedules.set(schedule)
  const again = await taken(due)
  expect([again.dueAt, await seen(again)]).toEqual([nextAt, 'going'])
  await bench.redis.hset(keys.record, { state: 'finished', finishReason: 'finished' })
  const late = await taken(due)
  expect([late.dueAt, await seen(late)]).toEqual([nextAt, 'begun'])
  expect((await schedules.all()).find(({ name }) => name === spider)!.last!.outcome).toBe('begun')
  expect(await bench.redis.zcard(`${keys.schedules}:delayed`)).toBe(1)
  await due.close()
})

test('the list tells how the run stands that a schedule has begun last, and how it ended, also when another was begun since', async () => {
  const { spider, schedule, schedules, keys, waiting, begin } = ofOneSpider()
  await schedules.set(schedule)
  await schedules.runNow(spider)
  const due = await waiting()
  const fire = await taken(due)
  await begin(fire.fire)
  const run = (await bench.redis.hget(keys.record, 'run'))!
  await fire.settled('begun', { run })
  const lastRun = async () => (await schedules.all()).find(({ name }) => name === spider)!.lastRun
  // No worker has joined it: nothing is written down.
  expect(await lastRun()).toMatchObject({ run, state: 'running', items: 0 })
  const worker = await bench.join(keys)
  await worker.record.takeStart(new AbortController().signal)
  await worker.record.startEnded(0)
  await worker.record.finish()
  await worker.heartbeat.close()
  await worker.record.leave()
  const history = { redis: bench.redis, keys, statsKey: bench.statsKey(keys), hours: 0, logger: silentLogger }
  await new CrawlHistory(history).ended()
  const finished = { run, state: 'finished', finishReason: 'finished' }
  expect(await lastRun()).toMatchObject(finished)
  await begin('another')
  expect(await lastRun()).toMatchObject(finished)
  await bench.redis.hdel(keys.runs, run)
  expect(await lastRun()).toBe(undefined)
  await due.close()
})

test('a run that is asked for is due at once; a schedule that is gone has none; clearing the crawl leaves it', async () => {
  const { spider, schedule, schedules, keys, waiting } = ofOneSpider()
  await expect(schedules.runNow(spider)).rejects.toThrow(`there is no schedule "${spider}"`)
  await schedules.set(schedule)
  expect(await schedules.runNow(spider)).toMatchObject({ isServed: false })
  const due = await waiting()
  const run = await taken(due)
  expect(run.fire).toMatch(/^now-/)
  await run.settled('going', { why: 'the run before had not ended' })
  await clearCrawl({ redis: bench.redis, keys, statsKey: bench.statsKey(keys), clear: async () => {} })
  expect((await schedules.all()).find((one) => one.name === spider)).toMatchObject({
    last: { outcome: 'going', why: 'the run before had not ended' },
  })
  await expect(schedules.set({ ...schedule, spider: 'another' })).rejects.toThrow(
    'Give this one another name',
  )
  await schedules.remove(spider)
  expect(await bench.redis.zcard(`${keys.schedules}:delayed`)).toBe(0)
  expect(await bench.redis.sismember('webloom:schedules', spider)).toBe(0)
  expect(await bench.redis.pttl(servedKey(keys))).toBeGreaterThan(0)
  await due.close()
})

test.each(['constructor', '__proto__'])('a schedule may be called %s', async (name) => {
  const { schedule, schedules } = ofOneSpider()
  await schedules.set({ ...schedule, name })
  const [seen] = (await schedules.all()).filter((one) => one.spider === schedule.spider)
  expect(seen).toMatchObject({ name })
  expect(seen!.last).toBeUndefined()
  expect((await schedules.remove(name)).name).toBe(name)
})

test('a spider has so many schedules at the most: one more would never begin, and is refused', async () => {
  const { schedule, schedules, keys } = ofOneSpider()
  await schedules.set(schedule)
  // As BullMQ keeps them, which takes a while to be told of so many.
  const all = `${keys.schedules}:repeat`
  const kept = await bench.redis.hgetall(`${all}:${schedule.name}`)
  const adding = bench.redis.pipeline()
  for (let n = 1; n < MAX_SCHEDULES_PER_SPIDER; n++) {
    const data = { ...storedSchedule(schedule), name: `more-${n}` }
    adding.hset(`${all}:more-${n}`, { ...kept, data: JSON.stringify(data) })
    adding.zadd(all, Date.now() + 60_000, `more-${n}`)
  }
  await adding.exec()
  await expect(schedules.set({ ...schedule, name: `${schedule.name}-1001` })).rejects.toThrow(
    'has 1000 schedules, which is the most',
  )
  expect((await schedules.set({ ...schedule, cron: '0 7 * * *' })).replaced).toBe(true)
})
