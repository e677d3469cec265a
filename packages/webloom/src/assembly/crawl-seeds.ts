/** Where a crawl's start URLs come from when a spider takes them from Redis. */

import type { Crawler, RequestQueue, StartHosts } from '@webloom/core'
import { RedisSeedSource } from '@webloom/queue'
import { isRedisSpider, noteStartHosts, type Spider, seedOptionsOf } from '@webloom/spider'

/** Undefined for a spider that takes no start URLs from Redis. */
export function seedSource(
  { redis, settings, stats, logger, times }: Crawler,
  { spider, startHosts }: { spider: Spider; startHosts: StartHosts },
  {
    queue,
    ...worker
  }: {
    workerId: string
    redisRunId: () => Promise<string>
    keptRunId?: () => Promise<string>
    queue: Pick<RequestQueue, 'settled'>
  },
): RedisSeedSource | undefined {
  if (!isRedisSpider(spider)) return undefined
  const options = seedOptionsOf(spider, settings)
  const makeRequests = async (data: string) => {
    const requests = await options.makeRequests(data)
    if (settings.getBool('SEEDS_TRUSTED')) await noteStartHosts(startHosts, requests)
    return requests
  }
  return new RedisSeedSource({
    redis: redis('seeds', `${spider.name} takes its start URLs from Redis`),
    ...options,
    makeRequests,
    ...worker,
    settled: (asker) => queue.settled(asker),
    stats,
    logger,
    ...(times && { times }),
  })
}
