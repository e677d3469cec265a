// Filters

export { MemoryDupeFilter } from './memory-dupefilter.ts'
export {
  type BloomDescription,
  type BloomOnFull,
  RedisBloomDupeFilter,
  type RedisBloomDupeFilterOptions,
} from './redis-bloom-dupefilter.ts'
export type { RedisDupeFilterOptions } from './redis-dupefilter.ts'
export {
  RedisSetDupeFilter,
  type RedisSetDupeFilterOptions,
  type SetMembers,
} from './redis-set-dupefilter.ts'

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

export { redisBloomFromCrawler, redisSetFromCrawler } from './from-crawler.ts'
