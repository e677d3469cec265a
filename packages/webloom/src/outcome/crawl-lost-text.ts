/** What is told of a crawl that is gone from Redis while its workers are there. */

/** Returns what happened, what is lost and what to do. */
export function crawlLostText(crawl: string, redis: string): string {
  return `the crawl, or a shard of it, is gone from Redis at ${redis}, and nobody cleared it: that Redis was emptied (FLUSHALL), restarted without its data (appendonly no), or its keys were deleted or evicted. All requests that were queued there are lost; items that are written stay. This worker ends with crawl_lost, exit code 1. The dupefilter may still know the pages that were queued, and would leave them out. To crawl again, run webloom clear ${crawl}, then webloom worker ${crawl}. To prevent this, set appendonly yes and maxmemory-policy noeviction`
}
