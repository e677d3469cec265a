import {
  type Crawler,
  crawlKey,
  type FingerprintAlgorithm,
  filterFingerprinterOf,
  type Settings,
  SettingsError,
} from '@webloom/core'
import type { BloomMode, BloomOptions } from './bloom-parameters.ts'
import type { QueueRunId } from './queue-run.ts'
import { RedisBloomDupeFilter } from './redis-bloom-dupefilter.ts'
import type { RedisDupeFilterOptions } from './redis-dupefilter.ts'
import type { RedisConnection } from './redis-script.ts'
import { RedisSetDupeFilter } from './redis-set-dupefilter.ts'

/**
 * `redis-set` as the settings ask for it. The connection stays the caller's.
 *
 * @param queueRunId where the queue is on Redis, too; see `RedisDupeFilterOptions`
 */
export function redisSetFromCrawler(
  crawler: Crawler,
  redis: RedisConnection,
  queueRunId?: QueueRunId,
): RedisSetDupeFilter {
  const { settings } = crawler
  return new RedisSetDupeFilter({
    ...common(crawler, redis, queueRunId, 'scrapy-redis'),
    key: keyOf(crawler, settings.getString('SCHEDULER_DUPEFILTER_KEY')),
    members: settings.get('DUPEFILTER_MEMBERS'),
  })
}

/** `redis-bloom` as the settings ask for it, in the same way. */
export function redisBloomFromCrawler(
  crawler: Crawler,
  redis: RedisConnection,
  queueRunId?: QueueRunId,
): RedisBloomDupeFilter {
  const { settings } = crawler
  const compat = settings.get('BLOOMFILTER_COMPAT')
  if (compat === 'liuxingming-demo' && settings.get('DUPEFILTER_DIGEST') === 'url') {
    throw new SettingsError([
      'DUPEFILTER_DIGEST is url, and BLOOMFILTER_COMPAT is liuxingming-demo, which takes the number of the block from the first hex digits: use fingerprint, md5 or another hash, or BLOOMFILTER_COMPAT=liuxingming',
    ])
  }
  const key = settings.isSet('SCHEDULER_DUPEFILTER_KEY')
    ? settings.getString('SCHEDULER_DUPEFILTER_KEY')
    : '%(spider)s:bloomfilter'
  return new RedisBloomDupeFilter({
    ...common(crawler, redis, queueRunId, FINGERPRINTERS[compat]),
    ...bloomOptionsOf(settings),
    key: keyOf(crawler, key),
    onFull: settings.get('BLOOMFILTER_ON_FULL'),
  })
}

/** What FINGERPRINTER=auto means: what the crawlers of that filter use. */
const FINGERPRINTERS: Readonly<Record<BloomMode, FingerprintAlgorithm>> = {
  native: 'scrapy',
  germey: 'scrapy-redis',
  liuxingming: 'scrapy',
  'liuxingming-demo': 'scrapy-2.6',
}

function bloomOptionsOf(settings: Settings): BloomOptions {
  const [capacity, blockNum] = [settings.get('BLOOMFILTER_CAPACITY'), settings.get('BLOOMFILTER_BLOCK_NUM')]
  return {
    compat: settings.get('BLOOMFILTER_COMPAT'),
    ...(capacity !== null && { capacity }),
    // Unset, the default is the mode's own.
    ...(settings.isSet('BLOOMFILTER_BIT') && { bit: settings.getInt('BLOOMFILTER_BIT') }),
    ...(settings.isSet('BLOOMFILTER_HASH_NUMBER') && {
      hashNumber: settings.getInt('BLOOMFILTER_HASH_NUMBER'),
    }),
    errorRate: settings.getFloat('BLOOMFILTER_ERROR_RATE'),
    ...(blockNum !== null && { blockNum }),
  }
}

function common(
  { settings, stats, logger }: Crawler,
  redis: RedisConnection,
  queueRunId: QueueRunId | undefined,
  auto: FingerprintAlgorithm,
): Omit<RedisDupeFilterOptions, 'key'> {
  return {
    redis,
    ...(queueRunId && { queueRunId }),
    fingerprinter: filterFingerprinterOf(settings, auto, stats),
    pendingStaleMs: settings.getFloat('DUPEFILTER_PENDING_STALE') * 1000,
    cacheSize: settings.getInt('DUPEFILTER_CACHE_SIZE'),
    stats,
    logger,
  }
}

function keyOf({ settings, spider }: Crawler, pattern: string): string {
  return crawlKey(pattern, { spider: spider.name, crawlId: settings.get('CRAWL_ID') })
}
