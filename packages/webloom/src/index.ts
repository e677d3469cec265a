// Spiders

// Requests and responses
// What a spider or component throws to say what it wants
// Signals and stats
// URLs and fingerprints
// Ports: what a component of your own implements
export {
  type Callback,
  CloseSpider,
  type ComponentClass,
  type Crawler,
  canonicalizeUrl,
  DownloadError,
  type DownloaderMiddleware,
  type DownloadHandler,
  type DownloadOptions,
  type DownloadResult,
  DropItem,
  type DupeFilter,
  type DupeFilterDescription,
  type Extension,
  type FingerprintAlgorithm,
  type FingerprintOptions,
  fingerprint,
  Headers,
  type HeadersInit,
  type HostClock,
  IgnoreRequest,
  InvalidUrl,
  type ItemContext,
  type ItemFeed,
  type ItemPipeline,
  type JsonObject,
  type JsonValue,
  type Lease,
  type Logger,
  NotConfigured,
  type QueueCounts,
  type QueuedRequest,
  Request,
  type RequestInit,
  type RequestQueue,
  RetryLater,
  type Seed,
  type SeedSource,
  Settings,
  SettingsError,
  type SettingsInput,
  type SignalName,
  type SignalPayloads,
  Signals,
  type SpiderMiddleware,
  type StatsCollector,
  safeUrlString,
  signalNames as signals,
  UsageError,
  urlJoin,
  WebloomError,
} from '@webloom/core'
// Implementations
export { MemoryDupeFilter } from '@webloom/dupefilter'
export { MemoryHostClock, MemoryRequestQueue } from '@webloom/queue'
export {
  type Failure,
  HttpError,
  Response,
  Selector,
  SelectorList,
  Spider,
  type SpiderClass,
} from '@webloom/spider'
export type { CrawlResult } from './crawl.ts'
// Running a crawl
export { type CrawlCallOptions, crawl } from './crawl-api.ts'
export { defineConfig, type WebloomConfig } from './loading/config.ts'
