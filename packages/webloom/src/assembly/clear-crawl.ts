/** Deletes a crawl from Redis, as `webloom clear` and `webloom bench` do. */

import { crawlKey } from '@webloom/core'
import { COOKIES_KEY, ROBOTS_KEY } from '@webloom/downloader'
import { clearCrawl, clearFormerShards, RedisVisitRecords } from '@webloom/queue'
import type { CrawlFromOutside } from './crawl-from-outside.ts'
import { shardsOf, withQueueAndFilter } from './redis-crawl-store.ts'

/** Cookies and robots.txt of a crawl: keys for each jar and domain, and for each part of the sites. */
const PATTERNS = [COOKIES_KEY, ROBOTS_KEY].map((pattern) => pattern.replace(/%\((jar|part)\)s.*/, ''))

/** Returns how many workers are present. While there are any, nothing is deleted unless `force` is true. */
export async function clearFromOutside(crawl: CrawlFromOutside, force = false): Promise<number> {
  const shards = await shardsOf(crawl)
  return withQueueAndFilter(crawl, (queue, filter) =>
    clearCrawl({
      ...crawl,
      force,
      shards,
      alsoUnder: PATTERNS.map((pattern) => crawlKey(pattern, crawl.name)),
      clear: async () => {
        await clearFormerShards(crawl.redis, crawl.keys, shards)
        await queue.clear()
        await filter.clear()
        await new RedisVisitRecords(crawl).clear()
      },
    }),
  )
}
