import {
  type Crawler,
  crawlKey,
  type FingerprintAlgorithm,
  filterFingerprinterOf,
  SettingsError,
} from '@webloom/core'
import type { BloomMode, BloomOptions } from './bloom-parameters.ts'
import {
  bloomOptionsOf,
  nativeBloomOptionsOf,
  partitionOptionsOf,
  refusePartition,
} from './bloom-settings.ts'
import { CountingBloomDupeFilter } from './counting-bloom-dupefilter.ts'
import { MemoryBloomDupeFilter } from './memory-bloom-dupefilter.ts'
import { MemoryHostBloomDupeFilter } from './memory-host-bloom-dupefilter.ts'
import type { QueueRunId } from './queue-run.ts'
import { RedisBloomDupeFilter } from './redis-bloom-dupefilter.ts'
import type { RedisDupeFilterOptions } from './redis-dupefilter-options.ts'
import { RedisHostBloomDupeFilter } from './redis-host-bloom-dupefilter.ts'
import { RedisKeyDupeFilter } from './redis-key-dupefilter.ts'
import type { RedisConnection } from './redis-script.ts'
import { RedisSetDupeFilter } from './redis-set-dupefilter.ts'
import type { ShardPart } from './sharded-part.ts'
import { SplittableBloomDupeFilter } from './splittable-bloom-dupefilter.ts'

/** What a filter on Redis stands beside; see `RedisDupeFilterOptions`. */
export interface FilterPlace {
  /** Where the queue is on Redis, too. */
  readonly queueRunId?: QueueRunId
  /** Where it is asked for a crawl, and not looked into from outside. */
  readonly crawl?: () => string
  /** Which part it is of a filter that is spread over several servers. */
  readonly shard?: ShardPart
}

/**
 * `redis-set` as the settings ask for it. The connection stays the caller's.
 *
 * @param place what it stands beside
 */
export function redisSetFromCrawler(
  crawler: Crawler,
  redis: RedisConnection,
  place: FilterPlace = {},
): RedisSetDupeFilter {
  const { settings } = crawler
  return new RedisSetDupeFilter({
    ...common(crawler, redis, place, 'scrapy-redis'),
    key: keyOf(crawler, settings.getString('SCHEDULER_DUPEFILTER_KEY')),
    members: settings.get('DUPEFILTER_MEMBERS'),
  })
}

/** `redis-key` as the settings ask for it, in the same way. */
export function redisKeyFromCrawler(
  crawler: Crawler,
  redis: RedisConnection,
  place: FilterPlace = {},
): RedisKeyDupeFilter {
  const { settings } = crawler
  const ttl = settings.get('DUPEFILTER_TTL')
  if (ttl === null) {
    throw new SettingsError([
      'DUPEFILTER_CLASS is redis-key, which keeps a request for a while, and DUPEFILTER_TTL does not say how long: set it to seconds (86400 is a day). For good it is kept by redis-set',
    ])
  }
  return new RedisKeyDupeFilter({
    ...common(crawler, redis, place, 'scrapy-redis'),
    key: keyOf(crawler, settings.getString('SCHEDULER_DUPEFILTER_KEY')),
    ttlMs: ttl * 1000,
  })
}

/** `redis-bloom` as the settings ask for it: one filter, or one for each host. */
export function redisBloomFromCrawler(
  crawler: Crawler,
  redis: RedisConnection,
  place: FilterPlace = {},
): RedisBloomDupeFilter | RedisHostBloomDupeFilter {
  const { settings } = crawler
  const onFull = settings.get('BLOOMFILTER_ON_FULL')
  if (settings.get('BLOOMFILTER_PARTITION_BY') !== 'fingerprint') {
    return new RedisHostBloomDupeFilter({
      ...common(crawler, redis, place, 'scrapy'),
      ...shareOf(nativeBloomOptionsOf(settings, 'one of many (BLOOMFILTER_PARTITION_BY)'), place.shard),
      ...partitionOptionsOf(settings),
      key: bloomKeyOf(crawler),
      onFull,
    })
  }
  const compat = settings.get('BLOOMFILTER_COMPAT')
  if (compat === 'liuxingming-demo' && settings.get('DUPEFILTER_DIGEST') === 'url') {
    throw new SettingsError([
      'DUPEFILTER_DIGEST is url, and BLOOMFILTER_COMPAT is liuxingming-demo, which takes the number of the block from the first hex digits: use fingerprint, md5 or another hash, or BLOOMFILTER_COMPAT=liuxingming',
    ])
  }
  return new RedisBloomDupeFilter({
    ...common(crawler, redis, place, FINGERPRINTERS[compat]),
    ...shareOf(bloomOptionsOf(settings), place.shard),
    compat,
    key: bloomKeyOf(crawler),
    onFull,
  })
}

/** `counting-bloom` on Redis as the settings ask for it, in the same way. */
export function countingBloomFromCrawler(
  crawler: Crawler,
  redis: RedisConnection,
  place: FilterPlace = {},
): CountingBloomDupeFilter {
  const { settings } = crawler
  refusePartition(settings, 'counting-bloom')
  return new CountingBloomDupeFilter({
    ...common(crawler, redis, place, 'scrapy'),
    ...shareOf(nativeBloomOptionsOf(settings, 'counting-bloom'), place.shard),
    key: bloomKeyOf(crawler),
    onFull: settings.get('BLOOMFILTER_ON_FULL'),
  })
}

/** `splittable-bloom` as the settings ask for it, in the same way. */
export function splittableBloomFromCrawler(
  crawler: Crawler,
  redis: RedisConnection,
  place: FilterPlace = {},
): SplittableBloomDupeFilter {
  const { settings } = crawler
  refusePartition(settings, 'splittable-bloom')
  const { bit, blockNum, ...size } = nativeBloomOptionsOf(settings, 'splittable-bloom')
  if (bit !== undefined || blockNum !== undefined) {
    throw new SettingsError([
      'BLOOMFILTER_BIT or BLOOMFILTER_BLOCK_NUM is set, and DUPEFILTER_CLASS is splittable-bloom, which has as many leaves as it needs: set BLOOMFILTER_CAPACITY to how many requests are expected, and BLOOMFILTER_LEAF_BIT for the size of a leaf',
    ])
  }
  return new SplittableBloomDupeFilter({
    ...common(crawler, redis, place, 'scrapy'),
    ...shareOf(size, place.shard),
    leafBit: settings.getInt('BLOOMFILTER_LEAF_BIT'),
    splitsMax: settings.getInt('BLOOMFILTER_SPLITS_MAX'),
    key: bloomKeyOf(crawler),
    onFull: settings.get('BLOOMFILTER_ON_FULL'),
  })
}

/** `memory-bloom` as the settings ask for it: one filter, or one for each host. */
export function memoryBloomFromCrawler(crawler: Crawler): MemoryBloomDupeFilter | MemoryHostBloomDupeFilter {
  return crawler.settings.get('BLOOMFILTER_PARTITION_BY') === 'fingerprint'
    ? MemoryBloomDupeFilter.fromCrawler(crawler)
    : MemoryHostBloomDupeFilter.fromCrawler(crawler)
}

/** What FINGERPRINTER=auto means: what the crawlers of that filter use. */
const FINGERPRINTERS: Readonly<Record<BloomMode, FingerprintAlgorithm>> = {
  native: 'scrapy',
  germey: 'scrapy-redis',
  liuxingming: 'scrapy',
  'liuxingming-demo': 'scrapy-2.6',
}

function common(
  { settings, stats, logger, times }: Crawler,
  redis: RedisConnection,
  { queueRunId, crawl, shard }: FilterPlace,
  auto: FingerprintAlgorithm,
): Omit<RedisDupeFilterOptions, 'key'> {
  return {
    redis,
    ...(queueRunId && { queueRunId }),
    ...(crawl && { crawl }),
    ...(times && { times }),
    ...(shard && { shard }),
    fingerprinter: filterFingerprinterOf(settings, auto, stats),
    pendingStaleMs: settings.getFloat('DUPEFILTER_PENDING_STALE') * 1000,
    cacheSize: settings.getInt('DUPEFILTER_CACHE_SIZE'),
    stats,
    logger,
  }
}

/** BLOOMFILTER_CAPACITY is that of all servers together; requests fall evenly on them. */
function shareOf<Size extends Pick<BloomOptions, 'capacity'>>(
  size: Size,
  shard: ShardPart | undefined,
): Size {
  return shard && size.capacity !== undefined
    ? { ...size, capacity: Math.ceil(size.capacity / shard.count) }
    : size
}

function keyOf({ settings, spider }: Crawler, pattern: string): string {
  return crawlKey(pattern, { spider: spider.name, crawlId: settings.get('CRAWL_ID') })
}

function bloomKeyOf(crawler: Crawler): string {
  const { settings } = crawler
  return keyOf(
    crawler,
    settings.isSet('SCHEDULER_DUPEFILTER_KEY')
      ? settings.getString('SCHEDULER_DUPEFILTER_KEY')
      : '%(spider)s:bloomfilter',
  )
}
