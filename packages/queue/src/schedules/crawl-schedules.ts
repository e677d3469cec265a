/** What commands do with schedules: `webloom schedule` and what stands below it. */

import { randomUUID } from 'node:crypto'
import { didYouMean, type KeyPrefixes, type RunSeen, UsageError } from '@webloom/core'
import type { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { readRun } from '../history/run-records.ts'
import { type CrawlRedisKeys, crawlRedisKeys, scheduledSpidersKey } from '../redis/crawl-redis-keys.ts'
import type { Scheduled } from './begin-run.ts'
import { checkCron, nextTime } from './cron-times.ts'
import { beginCounts, forgetCounts } from './fire-counts.ts'
import { noteMade, noteRemoved } from './gone-schedules.ts'
import {
  JOB_OPTIONS,
  type LastFire,
  lastKey,
  MAX_SCHEDULES_PER_SPIDER,
  openScheduleQueue,
  type Schedule,
  scheduleKeys,
  scheduleOf,
  servedKey,
  storedSchedule,
} from './schedule-queue.ts'
import { readUntold, type UntoldRun } from './untold.ts'

/** A schedule as it stands. */
export interface ScheduleSeen extends Schedule {
  /** When its next run is due; in the past where no process has been there to begin it. */
  readonly nextAt: Date
  /** The latest time at which a run was due that was seen to. */
  readonly last?: LastFire
  /** The run that was begun or resumed then, as it stands; absent when it is no longer kept. */
  readonly lastRun?: RunSeen
  /** What people are yet to be told of runs that could not be. */
  readonly untold?: readonly UntoldRun[]
  /** A process is there that will begin it. */
  readonly isServed: boolean
}

const NAME = /^[\w@.-]{1,64}$/

export class CrawlSchedules {
  readonly #redis: Redis
  readonly #prefixes: KeyPrefixes

  /** @param redis of queues; opened and closed by whoever gives it */
  constructor(redis: Redis, prefixes: KeyPrefixes) {
    this.#redis = redis
    this.#prefixes = prefixes
  }

  /**
   * Keeps a schedule, in place of the one of that name. Resolves to when its first run is due. Throws `UsageError` for what no schedule
   * can be.
   */
  async set(schedule: Schedule): Promise<{ readonly nextAt: Date; readonly replaced: boolean }> {
    const { name, spider, crawlId, cron, tz } = schedule
    if (!NAME.test(name))
      throw new UsageError(
        'WL_USAGE',
        `a schedule cannot be called ${JSON.stringify(name)}: expected at most 64 letters, digits, and - _ . @.  Name it:  --name <name>`,
      )
    checkCron(cron, tz)
    const all = await this.all()
    const before = all.find((one) => one.name === name)
    if (before && before.spider !== spider)
      throw new UsageError(
        'WL_USAGE',
        `there is a schedule ${JSON.stringify(name)} of spider ${before.spider}. Give this one another name:  --name <name>`,
      )
    if (!before && all.filter((one) => one.spider === spider).length >= MAX_SCHEDULES_PER_SPIDER)
      throw new UsageError(
        'WL_USAGE',
        `spider ${spider} has ${MAX_SCHEDULES_PER_SPIDER} schedules, which is the most. Remove one that is not needed:  webloom schedule rm <name>`,
      )
    await this.#redis.sadd(scheduledSpidersKey(this.#prefixes), spider)
    await this.#with(spider, async (queue, keys) => {
      await beginCounts(this.#redis, keys, [crawlId])
      await queue.upsertJobScheduler(
        name,
        { pattern: cron, tz },
        { name: 'run', data: storedSchedule(schedule), opts: JOB_OPTIONS },
      )
      await noteMade(this.#redis, keys, name)
      if (before && before.crawlId !== crawlId) await this.#forgetCounts(before, all, keys)
    })
    return { nextAt: nextTime(cron, tz, new Date()), replaced: before !== undefined }
  }

  /** All there are, sorted by when they are due. */
  async all(): Promise<ScheduleSeen[]> {
    const spiders = await this.#redis.smembers(scheduledSpidersKey(this.#prefixes))
    const found = await Promise.all(spiders.map((spider) => this.#of(spider)))
    return found.flat().sort((a, b) => a.nextAt.getTime() - b.nextAt.getTime())
  }

  /** A run that has begun goes on. Throws `UsageError` where there is none of that name. */
  async remove(name: string): Promise<ScheduleSeen> {
    const { schedule, all } = await this.#named(name)
    const { spider } = schedule
    const others = all.filter((one) => one.spider === spider && one.name !== name)
    await this.#with(spider, async (queue, keys) => {
      await noteRemoved(this.#redis, keys, name)
      await queue.removeJobScheduler(name)
      await this.#redis.hdel(lastKey(keys), name)
      await this.#forgetCounts(schedule, all, keys)
    })
    if (others.length === 0) await this.#redis.srem(scheduledSpidersKey(this.#prefixes), spider)
    return schedule
  }

  /** A run of it is due now, besides those at its times. Throws `UsageError` where there is none of that name. */
  async runNow(name: string): Promise<ScheduleSeen> {
    const { schedule } = await this.#named(name)
    const { nextAt, last, lastRun, untold, isServed, ...kept } = schedule
    await this.#with(schedule.spider, (queue) =>
      queue.add('run', storedSchedule(kept), { ...JOB_OPTIONS, jobId: `now-${randomUUID()}` }),
    )
    return schedule
  }

  /** Of the crawl of one that is gone, unless another is of the same crawl. */
  async #forgetCounts(gone: Schedule, all: readonly Schedule[], keys: CrawlRedisKeys): Promise<void> {
    const { name, spider, crawlId } = gone
    if (all.some((one) => one.name !== name && one.spider === spider && one.crawlId === crawlId)) return
    await forgetCounts(this.#redis, keys, crawlId)
  }

  async #named(name: string): Promise<{ schedule: ScheduleSeen; all: readonly ScheduleSeen[] }> {
    const all = await this.all()
    const schedule = all.find((one) => one.name === name)
    if (schedule) return { schedule, all }
    const names = all.map((one) => one.name)
    throw new UsageError(
      'WL_USAGE',
      `there is no schedule ${JSON.stringify(name)}.${didYouMean(name, names)} ${
        names.length === 0
          ? "There is none. Make one:  webloom schedule <spider> '0 6 * * *'"
          : `Schedules here: ${names.join(', ')}`
      }`,
    )
  }

  async #of(spider: string): Promise<ScheduleSeen[]> {
    return this.#with(spider, async (queue, keys) => {
      const [kept, lasts, served, untold] = await Promise.all([
        queue.getJobSchedulers(0, MAX_SCHEDULES_PER_SPIDER - 1, true),
        this.#redis.hgetall(lastKey(keys)),
        this.#redis.exists(servedKey(keys)),
        readUntold(this.#redis, keys),
      ])
      const seen = kept.map(async ({ template, next }) => {
        const schedule = scheduleOf(template?.data)
        if (!schedule || next === undefined) return []
        // A schedule may be called `constructor`.
        const text = Object.hasOwn(lasts, schedule.name) ? lasts[schedule.name] : undefined
        const last = text === undefined ? undefined : (JSON.parse(text) as LastFire)
        const lastRun = await this.#runOf(schedule, last)
        const its = untold.filter((one) => one.schedule === schedule.name)
        return [
          {
            ...schedule,
            nextAt: new Date(next),
            ...(last && { last }),
            ...(lastRun && { lastRun }),
            ...(its.length > 0 && { untold: its }),
            isServed: served === 1,
          },
        ]
      })
      return (await Promise.all(seen)).flat()
    })
  }

  async #runOf(
    { name, spider, crawlId }: Schedule,
    last: LastFire | undefined,
  ): Promise<RunSeen | undefined> {
    if (last?.run === undefined) return undefined
    const keys = crawlRedisKeys({ spider, crawlId, ...this.#prefixes })
    const its = await readRun(this.#redis, keys, last.run)
    if (its?.state !== 'stopped' && its?.state !== 'lost') return its
    const anew = await runInPlaceOf(this.#redis, keys, name, last.run)
    return (anew === undefined ? undefined : await readRun(this.#redis, keys, anew)) ?? its
  }

  async #with<T>(spider: string, act: (queue: Queue, keys: CrawlRedisKeys) => Promise<T>): Promise<T> {
    const keys = scheduleKeys({ spider, crawlId: null, ...this.#prefixes })
    const queue = await openScheduleQueue(this.#redis, keys)
    try {
      return await act(queue, keys)
    } finally {
      await queue.close()
    }
  }
}

/** Resolves to the run that has begun in the place of this one, which could not go on: a signal had stopped it, or a shard was lost. It is still the schedule's. */
async function runInPlaceOf(
  redis: Redis,
  { record }: CrawlRedisKeys,
  schedule: string,
  run: string,
): Promise<string | undefined> {
  const [now, scheduled, ...before] = await redis.hmget(record, 'run', 'scheduled', 'runsBefore', 'lostRuns')
  if (now == null || scheduled == null || (JSON.parse(scheduled) as Scheduled).schedule !== schedule)
    return undefined
  return before.some((runs) => runs?.split(' ').includes(run)) ? now : undefined
}
