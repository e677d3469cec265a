/** What all filters on Redis read from the settings and take from the crawl. */

import {
  type Crawler,
  crawlKey,
  crawlNameOf,
  type FingerprintAlgorithm,
  filterFingerprinterOf,
} from '@webloom/core'
import type { RedisDupeFilterOptions } from './redis-dupefilter-options.ts'

/** @param auto what FINGERPRINTER=auto means: what the crawlers of that filter use */
export function redisFilterOptionsOf(
  { redis, settings, stats, logger, times, run, typed, shard }: Crawler,
  auto: FingerprintAlgorithm,
): Omit<RedisDupeFilterOptions, 'key'> {
  const chosen = settings.get('DUPEFILTER_CLASS')
  const shown = typeof chosen === 'string' ? chosen : 'a class on Redis'
  return {
    redis: redis('dupefilter', `DUPEFILTER_CLASS is ${shown}`),
    ...(run && { crawl: () => run.name() }),
    ...(run?.redisRunId && { redisRunId: () => run.redisRunId!() }),
    ...(run?.keptRunId && { keptRunId: () => run.keptRunId!() }),
    ...(run?.onQueueBack && { onQueueBack: (listener: () => void) => run.onQueueBack!(listener) }),
    ...(times && { times }),
    ...(typed !== undefined && { typed }),
    ...(shard && { shard }),
    fingerprinter: filterFingerprinterOf(settings, auto, stats),
    pendingStaleMs: settings.getMs('DUPEFILTER_PENDING_STALE'),
    cacheSize: Math.ceil(settings.getInt('DUPEFILTER_CACHE_SIZE') / (shard?.count ?? 1)),
    stats,
    logger,
  }
}

/** Returns SCHEDULER_DUPEFILTER_KEY for this crawl; `fallback` when it is not set. */
export function filterKeyOf({ settings, spider }: Crawler, fallback?: string): string {
  const isFallback = fallback !== undefined && !settings.isSet('SCHEDULER_DUPEFILTER_KEY')
  const pattern = isFallback ? fallback : settings.getString('SCHEDULER_DUPEFILTER_KEY')
  return crawlKey(pattern, crawlNameOf(settings, spider.name))
}

/** Returns the key of a Bloom filter for this crawl. */
export function bloomKeyOf(crawler: Crawler): string {
  return filterKeyOf(crawler, '%(spider)s:bloomfilter')
}
