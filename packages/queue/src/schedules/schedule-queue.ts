/**
 * The schedules of a spider, as BullMQ keeps them: a job scheduler each, whose next job is delayed until its hour. They are in the slot of
 * the spider's crawl without a CRAWL_ID, whichever CRAWL_ID a schedule's runs have.
 *
 *     <schedules>:repeat, …     BullMQ's
 *     <schedules>:last          hash: name of a schedule → how its latest fire went, as JSON
 *     <schedules>:counts        fire-counts.ts
 *     <schedules>:removed       gone-schedules.ts
 *     <schedules>:untold        untold.ts
 *     <schedules>:served        string that expires: a process is there that begins runs
 *
 * BullMQ is loaded only here, as it takes long.
 */

import type { CrawlName } from '@webloom/core'
import type { Job, Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { bullBackend } from '../redis/bull-backend.ts'
import { type CrawlRedisKeys, crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { nextMillis } from './cron-times.ts'

/** What a run is begun with, as the flags of `webloom worker` have it. */
export interface ScheduledFlags {
  readonly set?: readonly string[]
  readonly argument?: readonly string[]
  readonly output?: readonly string[]
  readonly overwriteOutput?: readonly string[]
}

/** When runs of a crawl begin. */
export interface Schedule {
  /** Of all schedules of a Redis. */
  readonly name: string
  readonly spider: string
  readonly crawlId: string | null
  readonly cron: string
  /** The time zone by which `cron` is meant. */
  readonly tz: string
  readonly flags: ScheduledFlags
}

/**
 * What became of a fire: `begun` and `resumed` runs; `going`: the run before had not ended, and none was begun; `failed`: none could be
 * begun; `done`: an earlier release had seen to it, and was killed before it had noted how.
 */
export type FireOutcome = 'begun' | 'resumed' | 'going' | 'done' | 'failed'

export interface LastFire {
  /** Milliseconds: when it was due, and when it was seen to. */
  readonly dueAt: number
  readonly at: number
  readonly outcome: Exclude<FireOutcome, 'done'>
  /** Why none was begun. */
  readonly why?: string
  /** Id of the run that was begun or resumed. An earlier release did not note it. */
  readonly run?: string
  /** Its id. An earlier release did not note it. */
  readonly fire?: string
}

/** Whoever begins runs says so again and again; one that is silent for so long is gone. */
export const SERVED_KEPT_MS = 15_000

/** Raised when what is kept of a schedule changes so that an earlier release cannot read it. */
const FORM = 1

/** They are read as a whole. */
export const MAX_SCHEDULES_PER_SPIDER = 1000

const QUEUE = 'schedules'
const EVENTS_MAX = 100

export interface StoredSchedule extends Schedule {
  readonly form: number
}

export function storedSchedule(schedule: Schedule): StoredSchedule {
  return { form: FORM, ...schedule }
}

/** Undefined for what another program or release has written. */
export function scheduleOf(data: unknown): Schedule | undefined {
  const stored = data as Partial<StoredSchedule> | null
  if (typeof stored !== 'object' || stored?.form !== FORM) return undefined
  const { form, ...schedule } = stored as StoredSchedule
  return schedule
}

/** Keys of a spider's schedules, whatever CRAWL_ID the name has. */
export function scheduleKeys(name: CrawlName): CrawlRedisKeys {
  return crawlRedisKeys({ ...name, crawlId: null })
}

export const lastKey = ({ schedules }: CrawlRedisKeys) => `${schedules}:last`
export const servedKey = ({ schedules }: CrawlRedisKeys) => `${schedules}:served`

/** BullMQ's name and prefix of the queue: all its keys are in the slot of the crawl. */
export const bullNames = ({ base }: CrawlRedisKeys) => ({ name: QUEUE, prefix: base })

/** For jobs that are begun by hand, as for those of a scheduler: what is done leaves nothing. */
export const JOB_OPTIONS = { removeOnComplete: true, removeOnFail: true, stackTraceLimit: 1 } as const

/** Settings of BullMQ's, for whoever reckons when a job is due. */
export const TIMES = { repeatStrategy: nextMillis }

export async function openScheduleQueue(redis: Redis, keys: CrawlRedisKeys): Promise<Queue> {
  const bullmq = await import('bullmq')
  const { name, prefix } = bullNames(keys)
  const queue = new bullmq.Queue(
    name,
    { connection: redis, prefix, streams: { events: { maxLen: EVENTS_MAX } }, settings: TIMES },
    bullBackend(bullmq, prefix),
  )
  // What fails comes out where it is called.
  queue.on('error', () => {})
  return queue
}

/** Of the ids of jobs that wait for the end of a run; when they were due follows. */
export const LATER = 'later-'

/** Returns when a job was due: BullMQ's jobs of a scheduler are named for it. */
export function dueAtOf(job: Pick<Job, 'id' | 'timestamp'>): number {
  const [, ms] = /^(?:repeat:.*:|later-)(\d+)(?:$|-)/.exec(job.id ?? '') ?? []
  return ms === undefined ? job.timestamp : Number(ms)
}
