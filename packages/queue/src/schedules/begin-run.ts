/** A run is begun by its schedule, before any worker is there; what workers must know who then join it. */

import type { Redis } from 'ioredis'
import { askedOf, type QueueMode, refuseOtherFormat } from '../crawl/crawl-format.ts'
import { newRunId } from '../crawl/crawl-run.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { OomSafeScript } from '../redis/oom-safe-script.ts'
import type { FireOutcome, ScheduledFlags } from './schedule-queue.ts'

const beginScript = new OomSafeScript(
  'redis/now.lua',
  'crawl/todo.lua',
  'failures/all.lua',
  'crawl/begin.lua',
  'schedules/begin-run.lua',
)

export interface BeginRunOptions {
  /** The queue's Redis. */
  readonly redis: Redis
  /** Of the crawl. */
  readonly keys: CrawlRedisKeys
  /** Begins at most one run, however often it is asked. */
  readonly fire: string
  /** Name of the schedule. */
  readonly schedule: string
  readonly flags: ScheduledFlags
  /** As `RedisCrawlRecord` has them. */
  readonly persists: boolean
  readonly flushes: boolean
  /** How many the run has if it is a new one. */
  readonly shards: number
  /** QUEUE_MODE, if it is a new one. Default: that of the first worker that joins it. */
  readonly mode?: QueueMode
}

/** What became of a fire, and the run that the crawl was in then: the same however often it is asked. */
export interface BegunRun {
  readonly outcome: Exclude<FireOutcome, 'failed'>
  readonly run: string
}

/** Begins a run, or goes on with one that was stopped; no run is begun while one goes on. Rejects with WL_CRAWL_FORMAT. */
export async function beginRun(options: BeginRunOptions): Promise<BegunRun> {
  const { redis, keys, fire, schedule, flags, persists, flushes } = options
  await refuseOtherFormat({ redis, keys })
  const asked = { run: newRunId(), persists, flushes, ...askedOf(options), fire }
  const [outcome, run] = (await beginScript.run(
    redis,
    [keys.record, keys.hostOrders, keys.failures],
    [JSON.stringify(asked), JSON.stringify({ schedule, flags } satisfies Scheduled)],
  )) as [BegunRun['outcome'], string]
  return { outcome, run }
}

/** What workers must know who join the run. */
export interface Scheduled {
  readonly schedule: string
  readonly flags: ScheduledFlags
}

/** Whether a crawl wants workers, and what they are to be started with. */
export interface CrawlWanted {
  readonly isWanted: boolean
  /** A schedule has begun its run. */
  readonly isScheduled: boolean
  /** Empty for a run that no schedule has begun. */
  readonly flags: ScheduledFlags
  /** The run, and what has begun it or gone on with it last: other words when another schedule has, or the same at another hour. */
  readonly asked: string
}

/** A signal to all its workers has interrupted it: a run that a schedule has begun then goes on when there are workers again. */
const INTERRUPTED = 'shutdown'

/** Fields of the record: what a worker is started for. */
export const BEGAN = ['run', 'scheduled', 'fires'] as const

/** @param began the values of `BEGAN` */
export function askedBy([run, scheduled, fires]: readonly (string | null | undefined)[]): string {
  // One that came while the run went on has changed nothing.
  const fire = fires?.split(' ').find((_said, n, all) => /^=(?:begun|resumed)=/.test(all[n + 1] ?? ''))
  return JSON.stringify([run ?? '', scheduled ?? '', fire ?? ''])
}

export async function crawlWanted(redis: Redis, { record }: CrawlRedisKeys): Promise<CrawlWanted> {
  const [state, reason, ...began] = await redis.hmget(record, 'state', 'finishReason', ...BEGAN)
  const [, scheduled] = began
  const isInterrupted = state === 'stopped' && reason === INTERRUPTED && scheduled != null
  return {
    isWanted: state === 'running' || isInterrupted,
    isScheduled: scheduled != null,
    asked: askedBy(began),
    flags: scheduled == null ? {} : (JSON.parse(scheduled) as Scheduled).flags,
  }
}
