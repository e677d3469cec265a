import type { FailureEvent } from '@webloom/core'
import type { Redis } from 'ioredis'
import { RedisFailures } from '../src/failures/redis-failures.ts'
import { failedRequests } from '../src/outside/failed-requests.ts'
import type { CrawlRedisKeys } from '../src/redis/crawl-redis-keys.ts'

export interface QuarantinedRequest {
  readonly id: string
  readonly url: string
  /** Why it is there. */
  readonly reason: string
  readonly history: readonly FailureEvent[]
  readonly quarantinedAt: number
}

/** The requests in quarantine, the latest first. */
export async function quarantined(crawl: {
  redis: Redis
  keys: CrawlRedisKeys
}): Promise<QuarantinedRequest[]> {
  const all: QuarantinedRequest[] = []
  for await (const entries of failedRequests(new RedisFailures(crawl), { reason: 'quarantined' }))
    for (const { id, url, message, history = [], at } of entries)
      all.push({ id, url, reason: message, history, quarantinedAt: at })
  return all.sort((a, b) => b.quarantinedAt - a.quarantinedAt)
}
