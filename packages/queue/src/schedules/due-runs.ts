/**
 * Runs of a spider that are due, taken by whichever process asks first.
 *
 * A due run is a job of BullMQ. It is taken, the run is begun (`beginRun`, a moment), and the job is done: no job lasts as long as its crawl,
 * as that has its own record. When a process dies between
 *
 *     taking it and beginning      its lock ends, and another process takes it, some seconds later
 *     beginning and noting it      the same; the record of the crawl knows what this fire has begun: nothing is begun twice, and that is noted
 *
 * BullMQ adds the job of the next time when one is taken, counted from now. So of runs that were missed as nobody was there one is made up.
 * One that is taken a second time adds nothing.
 */

import { createHash } from 'node:crypto'
import { type Logger, silentLogger } from '@webloom/core'
import type { Job, Queue, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { bullBackend } from '../redis/bull-backend.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { beginCounts, noteFire } from './fire-counts.ts'
import { noteGone } from './gone-schedules.ts'
import {
  bullNames,
  dueAtOf,
  type FireOutcome,
  JOB_OPTIONS,
  LATER,
  type LastFire,
  MAX_SCHEDULES_PER_SPIDER,
  openScheduleQueue,
  type Schedule,
  SERVED_KEPT_MS,
  scheduleOf,
  servedKey,
  TIMES,
} from './schedule-queue.ts'

/** Longer than a run takes to begin on a Redis that is slow; another process may take it afterwards, which does no harm. */
const LOCK_MS = 10_000
/** A process that died with a run that was due is found by the second look after its lock has ended. */
const LOOK_FOR_LOST_EVERY_MS = 3000
const LATER_MS = 30_000
/** BullMQ would give a job up that was lost so often. */
const LOST_MAX = 1_000_000

export interface DueRun {
  readonly schedule: Schedule
  /** The same when it is taken again. */
  readonly fire: string
  readonly dueAt: Date
  /** Nobody else takes it while `act` goes on, however long. */
  during<T>(act: () => Promise<T>): Promise<T>
  /** It has been seen to: nobody takes it again. */
  settled(outcome: FireOutcome, noted?: Pick<LastFire, 'why' | 'run'>): Promise<void>
}

export interface DueRunsOptions {
  /** The queue's Redis; opened and closed by whoever gives it. */
  readonly redis: Redis
  /** Of the spider, without a CRAWL_ID: `scheduleKeys`. */
  readonly keys: CrawlRedisKeys
  readonly logger?: Logger
  readonly lockMs?: number
  /** A run that waits for the end of another is looked at after so long. */
  readonly laterMs?: number
}

export class DueRuns {
  readonly #redis: Redis
  readonly #keys: CrawlRedisKeys
  readonly #logger: Logger
  readonly #lockMs: number
  readonly #laterMs: number
  #worker: Worker | undefined
  #queue: Queue | undefined
  #takes = 0
  /** Nobody was there before. */
  #servedSinceMs = 0
  #lookedForLostAt = Number.NEGATIVE_INFINITY

  constructor({ redis, keys, logger = silentLogger, lockMs = LOCK_MS, laterMs = LATER_MS }: DueRunsOptions) {
    this.#redis = redis
    this.#keys = keys
    this.#logger = logger
    this.#lockMs = lockMs
    this.#laterMs = laterMs
  }

  async open(): Promise<void> {
    const bullmq = await import('bullmq')
    const { name, prefix } = bullNames(this.#keys)
    this.#queue = await openScheduleQueue(this.#redis, this.#keys)
    this.#worker = new bullmq.Worker(
      name,
      null,
      {
        connection: this.#redis,
        prefix,
        autorun: false,
        lockDuration: this.#lockMs,
        stalledInterval: Math.min(LOOK_FOR_LOST_EVERY_MS, this.#lockMs),
        maxStalledCount: LOST_MAX,
        settings: TIMES,
      },
      bullBackend(bullmq, prefix),
    )
    this.#worker.on('error', (error) => this.#logger.debug({ err: error }, 'BullMQ'))
    await this.#beginCounts()
  }

  /** Resolves to a run that is due now; undefined when none is. Says, too, that somebody is there to begin runs. */
  async take(): Promise<DueRun | undefined> {
    await this.#isThere()
    await this.#findLost()
    const token = `${process.pid}/${++this.#takes}`
    const job = await this.#worker!.getNextJob(token, { block: false })
    if (!job) return undefined
    const schedule = scheduleOf(job.data)
    if (schedule) return this.#dueRun(job, token, schedule)
    this.#logger.error({ job: job.id }, 'what is due is no schedule of this release: it is left out')
    await job.moveToCompleted(undefined, token, false)
    return undefined
  }

  /** Resolves to the schedules of the spider. */
  async schedules(): Promise<Schedule[]> {
    const kept = await this.#queue!.getJobSchedulers(0, MAX_SCHEDULES_PER_SPIDER - 1, true)
    return kept.flatMap(({ template }) => scheduleOf(template?.data) ?? [])
  }

  /** Resolves to true when nobody removed it, and no other process has noted that; people are then to be told `why`. */
  noteGone(schedule: Schedule, why: string): Promise<boolean> {
    return noteGone(this.#redis, this.#keys, schedule, why)
  }

  /** Of schedules that an earlier release has kept. Without it counts lack their 0, and runs begin all the same. */
  async #beginCounts(): Promise<void> {
    try {
      const crawlIds = (await this.schedules()).map(({ crawlId }) => crawlId)
      await beginCounts(this.#redis, this.#keys, crawlIds)
    } catch (err) {
      this.#logger.warn({ err }, 'scheduled runs are counted from the first one on, and not from 0')
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#worker?.close(true), this.#queue?.close()])
  }

  /** Says that somebody is there to begin runs. */
  async #isThere(): Promise<void> {
    const key = servedKey(this.#keys)
    // An earlier release writes 1 there.
    const since = await this.#redis.get(key)
    this.#servedSinceMs = since === null ? Date.now() : Number(since)
    await this.#redis.set(key, String(this.#servedSinceMs), 'PX', SERVED_KEPT_MS)
  }

  async #findLost(): Promise<void> {
    const now = performance.now()
    if (now - this.#lookedForLostAt < Math.min(LOOK_FOR_LOST_EVERY_MS, this.#lockMs)) return
    this.#lookedForLostAt = now
    for (const job of await this.#worker!.backend.moveStalledJobsToWait())
      this.#logger.warn({ job }, 'a process has died before it began the run that was due: another begins it')
  }

  /** Looks again whether it can be begun, unless the schedule is gone by then. The same however often it is noted. */
  async #later(job: Job, { name }: Schedule, dueAt: number): Promise<void> {
    const id = `${LATER}${dueAt}-${createHash('sha256').update(job.id!).digest('hex').slice(0, 16)}`
    const isThere = (await this.schedules()).some((one) => one.name === name)
    if (isThere) await this.#queue!.add('run', job.data, { ...JOB_OPTIONS, jobId: id, delay: this.#laterMs })
  }

  #dueRun(job: Job, token: string, schedule: Schedule): DueRun {
    const dueAt = dueAtOf(job)
    const servedSinceMs = this.#servedSinceMs
    return {
      schedule,
      fire: job.id!,
      dueAt: new Date(dueAt),
      during: async (act) => {
        // What fails here fails again where the run is begun.
        const hold = () =>
          void Promise.all([job.extendLock(token, this.#lockMs), this.#isThere()]).catch(() => {})
        const timer = setInterval(hold, this.#lockMs / 3)
        try {
          return await act()
        } finally {
          clearInterval(timer)
        }
      },
      settled: async (outcome, noted) => {
        const isLater = job.id!.startsWith(LATER)
        const isAtItsHour = job.id!.startsWith('repeat:')
        // Nobody was there at its hour, so it is made up when the run has ended that goes on now.
        const waits = outcome === 'going' && (isLater || (isAtItsHour && dueAt < servedSinceMs))
        if (waits) await this.#later(job, schedule, dueAt)
        if (outcome !== 'done' && !(isLater && waits)) {
          const last: LastFire = { dueAt, at: Date.now(), outcome, fire: job.id!, ...noted }
          if (waits) Object.assign(last, { why: `${noted?.why ?? 'a run goes on'}; it is begun after that` })
          await noteFire(this.#redis, this.#keys, schedule, last)
        }
        await job.moveToCompleted(undefined, token, false)
      },
    }
  }
}
