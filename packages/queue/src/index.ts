// In memory

export { BullJobQueue, type BullJobQueueOptions } from './bull-job-queue.ts'
// A crawl of many workers
export {
  type ClearCrawlOptions,
  clearCrawl,
  pauseCrawl,
  reopenCrawl,
  resumeCrawl,
  stopCrawl,
} from './crawl-control.ts'
export { CrawlMember, type CrawlMemberOptions } from './crawl-member.ts'
export { type CrawlRedisKeys, crawlRedisKeys } from './crawl-redis-keys.ts'
export {
  type CrawlState,
  type CrawlView,
  type HostView,
  type ReadCrawlOptions,
  readCrawl,
} from './crawl-view.ts'
export type { CrawlWorker } from './crawl-worker.ts'
// Which line a request waits in
export { paceOf } from './host-pace.ts'
export { HostSlots, type ResolveHost, type SlotGrouping } from './host-slots.ts'
export { HostTurnQueue, type HostTurnQueueOptions } from './host-turn-queue.ts'
// In a JOBDIR
export { JobDir, type JobDirOptions } from './job-dir.ts'
export { MemoryCrawlRecord } from './memory-crawl-record.ts'
export { MemoryHostClock, type MemoryHostClockOptions } from './memory-host-clock.ts'
export { MemoryRequestQueue, type MemoryRequestQueueOptions } from './memory-request-queue.ts'
export { MemoryStartHosts } from './memory-start-hosts.ts'
export { Quarantine, type QuarantinedRequest } from './quarantine.ts'
export {
  type CrawlLeft,
  type CrawlRun,
  RedisCrawlRecord,
  type RedisCrawlRecordOptions,
} from './redis-crawl-record.ts'
export { type RedisHealth, RedisMemory, redisHealth } from './redis-memory.ts'
// Start URLs from a Redis
export {
  RedisSeedPush,
  type RedisSeedPushOptions,
  SEEDS_A_PUSH_MAX,
  type SeedBatchPushed,
  type SeedToPush,
} from './redis-seed-push.ts'
export { RedisSeedSource, type RedisSeedSourceOptions } from './redis-seed-source.ts'
export { RedisStartHosts } from './redis-start-hosts.ts'
export { readSeedCounts, type SeedCounts } from './seed-counts.ts'
export { type SeedKeys, type SeedType, seedKeys, seedTypeOf } from './seed-keys.ts'
export { readTurnHosts } from './turn-hosts.ts'
