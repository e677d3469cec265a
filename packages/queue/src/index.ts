// In one process

export { MemoryBudgetBook } from './budgets/memory-budget-book.ts'
export { MemoryCrawlRecord } from './crawl/memory-crawl-record.ts'
export { MemoryPageForms } from './crawl/memory-page-forms.ts'
export { MemoryStartHosts } from './crawl/memory-start-hosts.ts'
export { MemoryRequestQueue, type MemoryRequestQueueOptions } from './local/memory-request-queue.ts'
export { MemoryHostClock, type MemoryHostClockOptions } from './politeness/memory-host-clock.ts'

// In a JOBDIR

export { IMPORT_ASKER, JobDir, type JobDirOptions } from './jobdir/job-dir.ts'

// The queue of many workers

export {
  BucketQueue,
  /** @deprecated It is `BucketQueue`. */
  BucketQueue as HostTurnQueue,
} from './buckets/bucket-queue.ts'
export type {
  BucketQueueOptions,
  /** @deprecated It is `BucketQueueOptions`. */
  BucketQueueOptions as HostTurnQueueOptions,
  QueueHosts,
} from './buckets/queue-options.ts'
export { BullJobQueue, type BullJobQueueOptions } from './jobs/bull-job-queue.ts'
export type { GivingUp } from './leasing/giving-up.ts'
export { LockKeeper, type LockKeeperOptions } from './locks/lock-keeper.ts'
export { type CrawlRedisKeys, crawlRedisKeys, crawlShown } from './redis/crawl-redis-keys.ts'
export { clearFormerShards } from './sharded/former-shards.ts'
export { ShardedQueue, type ShardedQueueOptions } from './sharded/sharded-queue.ts'
export { shardCount } from './shards/crawl-shards.ts'
export { lostRunFor, lostRunOf } from './shards/lost-run.ts'
export { QueueRun } from './shards/queue-run.ts'

// Requests that were given up

export { type FailureBounds, failureBounds } from './failures/failure-bounds.ts'
export { RedisFailures, type RedisFailuresOptions, type Retried } from './failures/redis-failures.ts'
export { readLedger } from './outside/crawl-ledger.ts'
export {
  dropFailed,
  failedRequests,
  type LedgerFilter,
  type RetriedFailures,
  type RetryOptions,
  retryFailed,
} from './outside/failed-requests.ts'

// When pages were visited, and are due again

export { RedisVisitRecords, type RedisVisitRecordsOptions } from './visits/redis-visit-records.ts'
export { RedisVisits, type RedisVisitsOptions } from './visits/redis-visits.ts'

// Hosts: which line a request waits in, how fast they may be asked, how they stand

export {
  readSlot,
  readSlots,
  /** @deprecated It is `readSlots`. */
  readSlots as readTurnHosts,
} from './outside/bucket-slots.ts'
export { readHostTotals } from './outside/host-totals.ts'
export { type SlotSample, sampleSlots } from './outside/slot-sample.ts'
export { DocumentLine } from './politeness/document-line.ts'
export { leastTimeMs, paceOf, slotPaces } from './politeness/host-pace.ts'
export { HostSlots, type ResolveHost, type SlotGrouping } from './politeness/host-slots.ts'

// A crawl of many workers

export { RedisBudgetBook, type RedisBudgetBookOptions } from './budgets/redis-budget-book.ts'
export {
  type AlikeSetting,
  type AlikeSettings,
  comparableValue,
  notedAlikeOf,
} from './crawl/alike-settings.ts'
export { CrawlEnding, type CrawlEndingOptions } from './crawl/crawl-ending.ts'
export {
  CRAWL_FORMAT,
  type CrawlsFilter,
  type FilterNoted,
  keysAsStored,
  notedFilterOf,
  notedModeOf,
  type QueueMode,
  refuseOtherFormat,
} from './crawl/crawl-format.ts'
export {
  CRAWL_LOST,
  type CrawlLeft,
  NOT_OPENED,
  OTHER_SETTINGS,
  REQUESTS_LEFT,
  reasonTold,
} from './crawl/crawl-leaving.ts'
export { StoppedMeanwhile } from './crawl/crawl-opening.ts'
export { joinedRunOf } from './crawl/crawl-run.ts'
export type { CrawlWorker } from './crawl/crawl-worker.ts'
export {
  RedisCrawlRecord,
  type RedisCrawlRecordOptions,
} from './crawl/redis-crawl-record.ts'
export { RedisPageForms } from './crawl/redis-page-forms.ts'
export { RedisStartHosts } from './crawl/redis-start-hosts.ts'
export { openLoadMeter, type WorkerLoadMeter } from './crawl/worker-load.ts'
export {
  CrawlChannel,
  type CrawlChannelOptions,
  type CrawlListener,
  type Swept,
} from './members/crawl-channel.ts'
export type { WholeTotals } from './members/crawl-stats.ts'
export { readHostLists } from './members/host-report.ts'
export { mergedStats } from './members/stats-merging.ts'
export {
  TOLD_AT_END,
  WorkerHeartbeat,
  type WorkerHeartbeatOptions,
  type WorkerObeys,
  type WorkerTells,
} from './members/worker-heartbeat.ts'
// What has become of a crawl

export { CrawlHistory, type CrawlHistoryOptions } from './history/crawl-history.ts'
export { readSamples, SAMPLES_PER_HOUR } from './history/crawl-samples.ts'
export {
  FileRunLog,
  type FileRunLogOptions,
  forgetFileRuns,
  readFileRuns,
} from './history/file-run-log.ts'
export { RedisRunLog, type RedisRunLogOptions } from './history/redis-run-log.ts'
export { type RunRecord, readRun, readRuns, seenRun } from './history/run-records.ts'

// A crawl seen and told from outside

export {
  type AdoptedCrawl,
  type AdoptOptions,
  adoptCrawl,
  type ClearCrawlOptions,
  clearCrawl,
  pauseCrawl,
  reopenCrawl,
  resumeCrawl,
  stopCrawl,
} from './outside/crawl-control.ts'
export { crawlFrontier, type FrontierEntry, lineSample } from './outside/crawl-frontier.ts'
export {
  forgetCrawl,
  isCrawlKnown,
  type KnownCrawl,
  noteCrawl,
  readCrawls,
} from './outside/crawl-registry.ts'
export { keepSettings, readSettings, type SettingsTold } from './outside/crawl-settings.ts'
export {
  type CrawlPresence,
  type CrawlView,
  type ReadCrawlOptions,
  readCrawl,
  readPresence,
} from './outside/crawl-view.ts'
export {
  HOST_ORDERS_MAX,
  type HostOrderChange,
  type HostOrderResult,
  orderHost,
  readHostOrders,
} from './outside/host-orders.ts'
export { PresentWorkers } from './outside/present-workers.ts'
export { answered, isRefusedLogin, whileRecordAnswers } from './outside/shards-asked.ts'
export {
  type HostSpent,
  lastDaySpent,
  notedBudgets,
  readSpentBudgets,
  renewDay,
  type WindowSpent,
} from './outside/spent-budgets.ts'
export { type StuckWorker, stuckWorkers } from './outside/stuck-workers.ts'
export {
  DISK_CURE,
  diskFailureIn,
  type RedisHealth,
  RedisMemory,
  redisHealth,
  staleTooSoon,
} from './redis/redis-memory.ts'
export {
  ENTRY_BYTES_MAX,
  type ImportStep,
  type ScrapyEntry,
  type ScrapyQueueType,
  ScrapyRedisQueue,
} from './seeds/scrapy-redis-queue.ts'

// Runs that begin at their hours

export {
  type BeginRunOptions,
  type BegunRun,
  beginRun,
  type CrawlWanted,
  crawlWanted,
} from './schedules/begin-run.ts'
export { CrawlSchedules, type ScheduleSeen } from './schedules/crawl-schedules.ts'
export { checkCron } from './schedules/cron-times.ts'
export { type DueRun, DueRuns, type DueRunsOptions } from './schedules/due-runs.ts'
export { readScheduledRuns } from './schedules/fire-counts.ts'
export { refuseRun } from './schedules/refuse-run.ts'
export {
  type FireOutcome,
  type LastFire,
  type Schedule,
  type ScheduledFlags,
  scheduleKeys,
} from './schedules/schedule-queue.ts'
export { readUntold, type TakenUntold, takeUntold, type UntoldRun } from './schedules/untold.ts'

// Start URLs from a Redis

export {
  MAX_SEEDS_PER_PUSH,
  RedisSeedPush,
  type RedisSeedPushOptions,
  type SeedBatchPushed,
  type SeedToPush,
} from './seeds/redis-seed-push.ts'
export { RedisSeedSource, type RedisSeedSourceOptions } from './seeds/redis-seed-source.ts'
export { readSeedCounts, type SeedCounts } from './seeds/seed-counts.ts'
export { type SeedKeys, type SeedType, seedKeys, seedTypeOf } from './seeds/seed-keys.ts'
