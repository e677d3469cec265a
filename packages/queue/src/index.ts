// In one process

export { MemoryCrawlRecord } from './memory-crawl-record.ts'
export { MemoryHostClock, type MemoryHostClockOptions } from './memory-host-clock.ts'
export { MemoryRequestQueue, type MemoryRequestQueueOptions } from './memory-request-queue.ts'
export { MemoryStartHosts } from './memory-start-hosts.ts'

// In a JOBDIR

export { IMPORT_OWNER, JobDir, type JobDirOptions } from './job-dir.ts'

// The queue of many workers

export { BullJobQueue, type BullJobQueueOptions } from './bull-job-queue.ts'
export { type CrawlRedisKeys, crawlRedisKeys } from './crawl-redis-keys.ts'
export { HostTurnQueue, type HostTurnQueueOptions } from './host-turn-queue.ts'
export { LockKeeper, type LockKeeperOptions } from './lock-keeper.ts'
export { Quarantine, type QuarantinedRequest } from './quarantine.ts'

// Hosts: which line a request waits in, how fast they may be asked, how they stand

export { paceOf } from './host-pace.ts'
export { HostSlots, type ResolveHost, type SlotGrouping } from './host-slots.ts'
export { readTurnHosts } from './turn-hosts.ts'

// A crawl of many workers

export { CrawlCalls, type CrawlCallsOptions, type CrawlListener, type Swept } from './crawl-calls.ts'
export {
  type AdoptedCrawl,
  adoptCrawl,
  type ClearCrawlOptions,
  clearCrawl,
  pauseCrawl,
  reopenCrawl,
  resumeCrawl,
  stopCrawl,
} from './crawl-control.ts'
export { crawlFrontier, type FrontierEntry } from './crawl-frontier.ts'
export { CrawlMember, type CrawlMemberOptions } from './crawl-member.ts'
export {
  type CrawlState,
  type CrawlView,
  type HostView,
  type ReadCrawlOptions,
  readCrawl,
} from './crawl-view.ts'
export type { CrawlWorker } from './crawl-worker.ts'
export {
  CRAWL_LOST,
  type CrawlLeft,
  type CrawlRun,
  REQUESTS_LEFT,
  RedisCrawlRecord,
  type RedisCrawlRecordOptions,
} from './redis-crawl-record.ts'
export { type RedisHealth, RedisMemory, redisHealth } from './redis-memory.ts'
export { RedisStartHosts } from './redis-start-hosts.ts'
export {
  ENTRY_BYTES_MAX,
  type ImportStep,
  type ScrapyEntry,
  type ScrapyQueueType,
  ScrapyRedisQueue,
} from './scrapy-redis-queue.ts'

// Start URLs from a Redis

export {
  RedisSeedPush,
  type RedisSeedPushOptions,
  SEEDS_A_PUSH_MAX,
  type SeedBatchPushed,
  type SeedToPush,
} from './redis-seed-push.ts'
export { RedisSeedSource, type RedisSeedSourceOptions } from './redis-seed-source.ts'
export { readSeedCounts, type SeedCounts } from './seed-counts.ts'
export { type SeedKeys, type SeedType, seedKeys, seedTypeOf } from './seed-keys.ts'
