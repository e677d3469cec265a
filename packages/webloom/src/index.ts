// Spiders
export { Spider, type SpiderClass } from '@webloom/spider'

// Requests and responses
export {
  type Callback,
  Headers,
  type HeadersInit,
  type JsonObject,
  type JsonValue,
  Request,
  type RequestInit,
} from '@webloom/core'
export { type Failure, HttpError, Response, Selector, SelectorList } from '@webloom/spider'

// Running a crawl
export { crawl, type CrawlCallOptions } from './crawl-api.ts'
export type { CrawlResult } from './crawl.ts'
export { defineConfig, type WebloomConfig } from './loading/config.ts'
export { Settings, type SettingsInput } from '@webloom/core'

// What a spider or component throws to say what it wants
export {
  CloseSpider,
  DownloadError,
  DropItem,
  IgnoreRequest,
  InvalidUrl,
  NotConfigured,
  SettingsError,
  UsageError,
  WebloomError,
} from '@webloom/core'

// Signals and stats
export { signalNames as signals, Signals, type SignalName, type SignalPayloads, type StatsCollector } from '@webloom/core'

// URLs and fingerprints
export {
  canonicalizeUrl,
  fingerprint,
  type FingerprintAlgorithm,
  type FingerprintOptions,
  safeUrlString,
  urlJoin,
} from '@webloom/core'

// Implementations
export { MemoryDupeFilter } from '@webloom/dupefilter'
export { MemoryHostClock, MemoryRequestQueue } from '@webloom/queue'

// Ports: what a component of your own implements
export {
  type ComponentClass,
  type Crawler,
  type DownloaderMiddleware,
  type DownloadHandler,
  type DownloadOptions,
  type DownloadResult,
  type DupeFilter,
  type DupeFilterDescription,
  type Extension,
  type HostClock,
  type ItemContext,
  type ItemFeed,
  type ItemPipeline,
  type Lease,
  type Logger,
  type QueueCounts,
  type QueuedRequest,
  type RequestQueue,
  RetryLater,
  type Seed,
  type SeedSource,
  type SpiderMiddleware,
} from '@webloom/core'
