import { type Crawler, type FingerprintAlgorithm, fingerprinterOf, type Settings } from '@webloom/core'
import type { BloomOptions } from './bloom-parameters.ts'
import { RedisBloomDupeFilter } from './redis-bloom-dupefilter.ts'
import type { RedisDupeFilterOptions } from './redis-dupefilter.ts'
import type { RedisConnection } from './redis-script.ts'
import { RedisSetDupeFilter } from './redis-set-dupefilter.ts'

/** `redis-set` as the settings ask for it. The connection stays the caller's. */
export function redisSetFromCrawler(crawler: Crawler, redis: RedisConnection): RedisSetDupeFilter {
  const { settings, spider } = crawler
  return new RedisSetDupeFilter({
    ...common(crawler, redis, 'scrapy-redis'),
    key: keyFor(spider.name, settings.getString('SCHEDULER_DUPEFILTER_KEY')),
  })
}

/** `redis-bloom` as the settings ask for it. The connection stays the caller's. */
export function redisBloomFromCrawler(crawler: Crawler, redis: RedisConnection): RedisBloomDupeFilter {
  const { settings, spider } = crawler
  const compat = settings.get('BLOOMFILTER_COMPAT')
  const key = settings.isSet('SCHEDULER_DUPEFILTER_KEY')
    ? settings.getString('SCHEDULER_DUPEFILTER_KEY')
    : '%(spider)s:bloomfilter'
  return new RedisBloomDupeFilter({
    ...common(crawler, redis, FINGERPRINTERS[compat]),
    ...bloomOptionsOf(settings),
    key: keyFor(spider.name, key),
    onFull: settings.get('BLOOMFILTER_ON_FULL'),
  })
}

/** What FINGERPRINTER=auto means: what the crawlers of that filter use. */
const FINGERPRINTERS: Readonly<Record<string, FingerprintAlgorithm>> = {
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
  auto: FingerprintAlgorithm | undefined,
): Omit<RedisDupeFilterOptions, 'key'> {
  return {
    redis,
    fingerprinter: fingerprinterOf(settings, auto ?? 'scrapy'),
    pendingStaleMs: settings.getFloat('DUPEFILTER_PENDING_STALE') * 1000,
    cacheSize: settings.getInt('DUPEFILTER_CACHE_SIZE'),
    stats,
    logger,
  }
}

function keyFor(spiderName: string, pattern: string): string {
  return pattern.replaceAll('%(spider)s', spiderName).replaceAll('%(name)s', spiderName)
}
