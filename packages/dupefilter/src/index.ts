// Filters

export type { BloomDescription } from './bloom-description.ts'
export type { BloomOnFull } from './bloom-fullness.ts'
export { CountingBloomDupeFilter, type CountingBloomDupeFilterOptions } from './counting-bloom-dupefilter.ts'
export type { FullestHost, HostBloomDescription } from './host-parts.ts'
export { MemoryBloomDupeFilter, type MemoryBloomDupeFilterOptions } from './memory-bloom-dupefilter.ts'
export {
  MemoryCountingBloomDupeFilter,
  type MemoryCountingBloomDupeFilterOptions,
} from './memory-counting-bloom-dupefilter.ts'
export { MemoryDupeFilter } from './memory-dupefilter.ts'
export {
  MemoryHostBloomDupeFilter,
  type MemoryHostBloomDupeFilterOptions,
} from './memory-host-bloom-dupefilter.ts'
export { NoDupeFilter } from './no-dupefilter.ts'
export { RedisBloomDupeFilter, type RedisBloomDupeFilterOptions } from './redis-bloom-dupefilter.ts'
export type { RedisDupeFilterOptions } from './redis-dupefilter-options.ts'
export {
  RedisHostBloomDupeFilter,
  type RedisHostBloomDupeFilterOptions,
} from './redis-host-bloom-dupefilter.ts'
export {
  type RedisKeyDescription,
  RedisKeyDupeFilter,
  type RedisKeyDupeFilterOptions,
} from './redis-key-dupefilter.ts'
export {
  RedisSetDupeFilter,
  type RedisSetDupeFilterOptions,
  type SetMembers,
} from './redis-set-dupefilter.ts'
export type { ShardedDescription } from './sharded-description.ts'
export { type Shard, ShardedDupeFilter, type ShardedDupeFilterOptions } from './sharded-dupefilter.ts'
export type { ShardPart } from './sharded-part.ts'
export {
  SplittableBloomDupeFilter,
  type SplittableBloomDupeFilterOptions,
} from './splittable-bloom-dupefilter.ts'
export type { SplittableDescription } from './splittable-description.ts'
export type { SplittableOptions } from './splittable-parameters.ts'

// Bloom filters

export { type BloomCompat, type BloomOffsetsOptions, type BloomPlace, bloomOffsets } from './bloom-offsets.ts'
export type { BloomMode, BloomOptions } from './bloom-parameters.ts'
// What a filter would take and give
export {
  type FilterPlan,
  type PlanOptions,
  planFilters,
} from './bloom-plan.ts'

// What they are given

export type { QueueRunId } from './queue-run.ts'
export type { RedisConnection } from './redis-script.ts'

// As the settings ask for them

export {
  countingBloomFromCrawler,
  type FilterPlace,
  memoryBloomFromCrawler,
  redisBloomFromCrawler,
  redisKeyFromCrawler,
  redisSetFromCrawler,
  splittableBloomFromCrawler,
} from './from-crawler.ts'
