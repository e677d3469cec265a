import { type FailureEvent, PROTOCOL_TIMES, type ProtocolTimes, REJECTIONS_MAX } from '@webloom/core'
import type { Redis } from 'ioredis'
import { readWorkerEntry } from '../crawl/crawl-worker.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { historyKey } from './quarantine-history.ts'

/** A request that a worker could not do. */
export interface Rejection {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  /** Where the crawl has its workers. Default: with the queue. */
  readonly workersKey?: string
  readonly id: string
  /** How often it was rejected, this time included. */
  readonly rejections: number
  /** Id of the worker that rejects it now. */
  readonly workerId: string
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
}

/**
 * Returns true when the request must be quarantined: it was rejected REJECTIONS_MAX times, and by every worker that is present.
 * While one worker has not had the request, that worker may be of a newer release, and busy, while an idle older one takes the
 * same request again and again.
 */
export async function nobodyCanDo({
  redis,
  keys,
  workersKey = keys.workers,
  id,
  rejections,
  workerId,
  times = PROTOCOL_TIMES,
}: Rejection): Promise<boolean> {
  if (rejections < REJECTIONS_MAX) return false
  const [entries, lines] = await Promise.all([redis.hgetall(workersKey), redis.hget(historyKey(keys), id)])
  const rejecters = new Set([workerId, ...workersIn(lines ?? '')])
  const seenAt = Object.values(entries).map((text) => readWorkerEntry(text, 0)?.seenAt.getTime() ?? 0)
  // The clock of Redis, as the latest heartbeat tells it.
  const now = Math.max(0, ...seenAt)
  return Object.values(entries)
    .flatMap((text) => readWorkerEntry(text, now, times.members.lostAfterMs) ?? [])
    .every((worker) => worker.lost || rejecters.has(worker.id))
}

function workersIn(lines: string): string[] {
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as FailureEvent).worker)
}
