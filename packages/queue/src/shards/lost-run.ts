/**
 * A crawl that cannot be finished, as one of its shards has lost what was queued there: its server was emptied, or came back without its data, and
 * so that shard does not know of the run. Workers that are there see that as they look at all shards; here it is seen by whoever comes later.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Logger, PROTOCOL_TIMES, type ProtocolTimes, redisNowMs } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { Waiting } from '../crawl/crawl-format.ts'
import { untilNextLook } from '../crawl/crawl-opening.ts'
import { readWorkerEntry } from '../crawl/crawl-worker.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { CrawlShards, shardCount } from './crawl-shards.ts'

/** A shard that is away for longer is waited for by whoever needs it. */
const ANSWER_MS_MAX = 1500

/** Resolves to the run of such a crawl; to undefined for one that is whole, over, or still to be emptied, and where there is none. */
export async function lostRunOf(redis: Redis, home: CrawlRedisKeys): Promise<string | undefined> {
  const fields = ['run', 'state', 'shards', 'emptied', 'todo']
  const [run, state, shards, emptied, todo] = await redis.hmget(home.record, ...fields)
  if (!run || !shards || emptied || todo || state === 'finished') return undefined
  const { queues } = new CrawlShards(home, shardCount(shards))
  const unknown = () => sleep(ANSWER_MS_MAX, run, { ref: false })
  const known = await Promise.all(
    queues.map(({ record }) => Promise.race([redis.hget(record, 'run'), unknown()])),
  )
  if (known.every((one) => one === run)) return undefined
  // Another may have begun meanwhile.
  return (await redis.hget(home.record, 'run')) === run ? run : undefined
}

interface BeginningWorker extends Waiting {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  /** QUEUE_SHARDS. */
  readonly shards: number
  readonly persists: boolean
  /** SCHEDULER_FLUSH_ON_START: nothing that was kept is wanted. */
  readonly flushes: boolean
  /** Returns the error of a worker that is not to begin another run. */
  readonly refusal: () => Error
  readonly logger: Logger
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
}

/**
 * Resolves to the run in whose place a worker is to begin another. With SCHEDULER_PERSIST none is begun unless it flushes, and this throws.
 *
 * A killed worker looks present for a while, and those that live end the crawl within seconds. Who joined them would end with it, and have fetched nothing.
 */
export async function lostRunFor(worker: BeginningWorker): Promise<string | undefined> {
  const { redis, keys, shards, persists, flushes, refusal, logger, times = PROTOCOL_TIMES } = worker
  // Before it is found lost: from then on a stop is meant for this worker, too.
  const state = (shards > 1 && (await redis.hget(keys.record, 'state'))) || 'idle'
  let run = shards > 1 ? await lostRunOf(worker.redis, worker.keys) : undefined
  if (run === undefined) return undefined
  if (persists && !flushes) throw refusal()
  logger.warn(SHARD_LOST)
  const { lostAfterMs, beatEveryMs } = times.members
  const untilMs = performance.now() + lostAfterMs + beatEveryMs
  for (let looks = 0; performance.now() < untilMs && (await isAnyPresent(worker, lostAfterMs)); looks++) {
    if (looks === 0) {
      logger.info(WAITS)
      worker.onWait?.('until a worker of a crawl that has lost a shard has ended, or counts as lost')
    }
    await untilNextLook({ ...worker, times, state })
    // Another may have begun one meanwhile.
    run = await lostRunOf(worker.redis, worker.keys)
    if (run === undefined) return undefined
  }
  return run
}

async function isAnyPresent({ redis, keys }: BeginningWorker, lostAfterMs: number): Promise<boolean> {
  const [nowMs, entries] = await Promise.all([redisNowMs(redis), redis.hvals(keys.workers)])
  return entries.some((text) => readWorkerEntry(text, nowMs, lostAfterMs)?.lost === false)
}

const SHARD_LOST =
  'a shard of the crawl has lost what was queued there, so the crawl cannot be finished. Unless workers are at work on it, what is left of it is deleted, its dupefilter is emptied, and it begins from the start (SCHEDULER_PERSIST is false, or SCHEDULER_FLUSH_ON_START is true)'

const WAITS =
  'a worker of that crawl has not signed off: waiting until it has ended, or counts as lost, for some seconds'
