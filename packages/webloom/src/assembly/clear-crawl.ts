/** Deletes a crawl from Redis, as `webloom clear` and `webloom bench` do. */

import { crawlKey, UsageError } from '@webloom/core'
import { COOKIES_KEY, ROBOTS_KEY } from '@webloom/downloader'
import { clearCrawl, clearFormerShards, joinedRunOf, RedisVisitRecords } from '@webloom/queue'
import { usedBy } from '../outcome/crawl-lost-text.ts'
import { typedWithNotes } from '../redis/filter-note.ts'
import type { CrawlFromOutside } from './crawl-from-outside.ts'
import { shardsOf, withQueueAndFilter } from './redis-crawl-store.ts'

/** Cookies and robots.txt of a crawl: keys for each jar and domain, and for each part of the sites. */
const PATTERNS = [COOKIES_KEY, ROBOTS_KEY].map((pattern) => pattern.replace(/%\((jar|part)\)s.*/, ''))

/**
 * Returns how many workers are present. While there are any, nothing is deleted unless `force` is true; nor while other crawls use the dupefilter, which is a
 * UsageError.
 */
export async function clearFromOutside(crawl: CrawlFromOutside, force = false): Promise<number> {
  const shards = await shardsOf(crawl)
  return withQueueAndFilter(crawl, async (queue, filter) => {
    const { name } = await joinedRunOf(crawl)
    const besides = force ? [] : ((await filter.crawlsBesides?.(crawl.keys.queueName, name)) ?? [])
    if (besides.length > 0) throw filterInUse(crawl, besides)
    return clearCrawl({
      ...crawl,
      force,
      shards,
      ...(crawl.crawler.times && { times: crawl.crawler.times }),
      onSilent: (workers, msMax) => crawl.crawler.logger.info(silentText(workers, msMax)),
      alsoUnder: PATTERNS.map((pattern) => crawlKey(pattern, crawl.name)),
      clear: async () => {
        await clearFormerShards(crawl.redis, crawl.keys, shards)
        await queue.clear()
        await filter.clear()
        await new RedisVisitRecords(crawl).clear()
      },
    })
  })
}

function silentText(workers: number, msMax: number): string {
  const who = workers === 1 ? 'a worker of this crawl is' : `${workers} workers of this crawl are`
  return `${who} silent and did not sign off: killed, or back in a moment, as after an outage of Redis. Up to ${msMax / 1000} s are waited for a heartbeat; --force does not wait`
}

function filterInUse({ crawler, keys }: CrawlFromOutside, besides: readonly string[]): UsageError {
  const typed = typedWithNotes(crawler.spider, crawler.settings)
  return new UsageError(
    'WL_USAGE',
    `${usedBy(besides, keys.queueName)}: emptied, it would have what is fetched there fetched again. Nothing was deleted. Run webloom clear ${typed} when that is over, or delete all the same: webloom clear ${typed} --force`,
  )
}
