/** Workers of one machine that do nothing any more, for who looks after that machine: the health check of a container. */

import { type KeyPrefixes, redisNowMs } from '@webloom/core'
import type { Redis } from 'ioredis'
import { type CrawlWorker, readWorkerEntry } from '../crawl/crawl-worker.ts'
import { crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { readCrawls } from './crawl-registry.ts'

/** A worker, and what is wrong with it. */
export interface StuckWorker extends Pick<CrawlWorker, 'id' | 'pid' | 'startedAt'> {
  readonly why: string
}

/**
 * Returns the workers of a machine whose heartbeat is missing, whose event loop is blocked, or that have nothing to do while the
 * queue has requests in flight in their name. Those that were killed are among them for ten minutes: whoever asks knows which
 * processes there are.
 *
 * @param host as `os.hostname` has it there
 */
export async function stuckWorkers(
  redis: Redis,
  host: string,
  prefixes?: KeyPrefixes,
): Promise<StuckWorker[]> {
  // All that are known, a thousand at most: a worker that has run for weeks has joined its crawl long before others of a shared Redis.
  const crawls = await readCrawls(redis, prefixes)
  const [nowMs, ...entries] = await Promise.all([
    redisNowMs(redis),
    ...crawls.map((crawl) => redis.hvals(crawlRedisKeys(crawl).workers)),
  ])
  return entries
    .flat()
    .flatMap((text) => readWorkerEntry(text, nowMs) ?? [])
    .filter((worker) => worker.host === host)
    .flatMap(({ id, pid, startedAt, lost, blocked, stalled }) => {
      const why = lost
        ? 'sends no heartbeat'
        : blocked
          ? 'is blocked by a callback'
          : stalled
            ? 'stands still'
            : ''
      return why === '' ? [] : [{ id, pid, startedAt, why }]
    })
}
