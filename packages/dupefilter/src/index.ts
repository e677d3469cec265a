// Filters

export type { BloomDescription } from './bloom/bloom-description.ts'
export type { BloomFullness, BloomOnFull } from './bloom/bloom-fullness.ts'
export type { BloomLayout, BloomRecord, CountedLayer } from './bloom/bloom-record.ts'
export type { FullestHost, HostBloomDescription } from './bloom/host-parts.ts'
export { MemoryBloomDupeFilter, type MemoryBloomDupeFilterOptions } from './bloom/memory-bloom-dupefilter.ts'
export {
  MemoryHostBloomDupeFilter,
  type MemoryHostBloomDupeFilterOptions,
} from './bloom/memory-host-bloom-dupefilter.ts'
export type {
  BloomKind,
  RecordedBloomDupeFilter,
  RecordedBloomOptions,
} from './bloom/recorded-bloom-dupefilter.ts'
export { RedisBloomDupeFilter, type RedisBloomDupeFilterOptions } from './bloom/redis-bloom-dupefilter.ts'
export {
  RedisHostBloomDupeFilter,
  type RedisHostBloomDupeFilterOptions,
} from './bloom/redis-host-bloom-dupefilter.ts'
export {
  CountingBloomDupeFilter,
  type CountingBloomDupeFilterOptions,
} from './counting/counting-bloom-dupefilter.ts'
export {
  MemoryCountingBloomDupeFilter,
  type MemoryCountingBloomDupeFilterOptions,
} from './counting/memory-counting-bloom-dupefilter.ts'
export { MemoryDupeFilter } from './process/memory-dupefilter.ts'
export { NoDupeFilter } from './process/no-dupefilter.ts'
export type { ProcessDupeFilter, ProcessDupeFilterOptions } from './process/process-dupefilter.ts'
export { partNumber } from './redis/filter-keys.ts'
export { RedisDupeFilter } from './redis/redis-dupefilter.ts'
export type {
  Elsewhere,
  PartOfFilter,
  RedisDupeFilterOptions,
  StoreQuestion,
} from './redis/redis-dupefilter-options.ts'
export { filterKeyOf, redisFilterOptionsOf } from './redis/redis-filter-settings.ts'
export {
  type RedisKeyDescription,
  RedisKeyDupeFilter,
  type RedisKeyDupeFilterOptions,
} from './redis/redis-key-dupefilter.ts'
export {
  RedisSetDupeFilter,
  type RedisSetDupeFilterOptions,
  type SetMembers,
} from './redis/redis-set-dupefilter.ts'
export { loggerOfParts } from './sharded/logger-of-parts.ts'
export { runOfParts } from './sharded/run-of-parts.ts'
export type { ShardedDescription } from './sharded/sharded-description.ts'
export { type Shard, ShardedDupeFilter, type ShardedDupeFilterOptions } from './sharded/sharded-dupefilter.ts'
export {
  SplittableBloomDupeFilter,
  type SplittableBloomDupeFilterOptions,
} from './splittable/splittable-bloom-dupefilter.ts'
export type { SplittableDescription } from './splittable/splittable-description.ts'
export type { SplittableOptions } from './splittable/splittable-parameters.ts'

// Which filters there are

export {
  type BuiltinDupeFilter,
  DUPEFILTERS,
  expires,
  expiringFilters,
  filterClass,
  forgettingFilters,
  isInProcess,
} from './builtin-dupefilters.ts'

// Bloom filters

export {
  type BloomCompat,
  type BloomOffsetsOptions,
  type BloomPlace,
  bloomOffsets,
} from './bloom-sizing/bloom-offsets.ts'
export type { BloomLayer, BloomMode, BloomOptions, BloomParameters } from './bloom-sizing/bloom-parameters.ts'
export type { BloomPartition, BloomPartitionOptions } from './bloom-sizing/bloom-partition.ts'

// What a filter would take and give

export {
  type FilterPlan,
  PART_BYTES_MAX,
  type PlanOptions,
  planFilters,
} from './bloom-sizing/bloom-plan.ts'

// What they are given

export type { Asked } from './asking/asked.ts'
export type { OnQueueBack, RedisRunId } from './asking/redis-run.ts'
export type { FilterKeys } from './redis/filter-keys.ts'
export type { RedisArgument, RedisConnection } from './redis/redis-script.ts'
