// Each group's comment is followed by an empty line: Biome then sorts within the groups and leaves them apart.

// What a spider author writes and gets

export {
  type BlockedLoad,
  type BrowserClick,
  type BrowserOptions,
  type Callback,
  type CapturedAnswer,
  Headers,
  type HeadersInit,
  type JsonObject,
  type JsonValue,
  type MetaKeys,
  type Rendered,
  Request,
  type RequestInit,
  type RequestMeta,
} from '@webloom/core'
export {
  type Failure,
  HttpError,
  type MonitorAnswer,
  type MonitoredRun,
  type Monitors,
  type PreviousVisit,
  RedisSpider,
  Response,
  type ResponseInit,
  requestFromSeed,
  type SeedOutput,
  Selector,
  SelectorList,
  Spider,
  type SpiderClass,
  type StatusBound,
  type StatusClass,
} from '@webloom/spider'

// Spiders that walk a site or read a feed by themselves, links, and requests of special kinds

export {
  CrawlSpider,
  CSVFeedSpider,
  FormRequest,
  type FormRequestInit,
  JsonRequest,
  type JsonRequestInit,
  type Link,
  LinkExtractor,
  type LinkExtractorOptions,
  RedisCrawlSpider,
  type RedisSeeds,
  Rule,
  type RuleInit,
  type SitemapEntry,
  type SitemapRule,
  SitemapSpider,
  type SpiderOutput,
  XMLFeedSpider,
} from '@webloom/spider'

// What a callback may use

export { getRetryRequest, RobotsTxt } from '@webloom/downloader'

// What a spider or component throws to say what it wants, and what it may catch

export {
  CloseSpider,
  DownloadError,
  DropItem,
  IgnoreRequest,
  InvalidUrl,
  SettingsError,
  UsageError,
  WebloomError,
} from '@webloom/core'

// Running a crawl

export type { SettingsInput } from '@webloom/core'
export type { CrawlResult } from './assembly/crawl.ts'
export { type CrawlCallOptions, crawl, crawlItems } from './authoring/crawl-api.ts'
export { defineConfig, type WebloomConfig } from './loading/config.ts'

// Signals and stats

export {
  type AlertSeen,
  type Moment,
  type RunSeen,
  type SignalPayloads,
  type StatValue,
  signals,
  type UnsentSeen,
} from '@webloom/core'

// URLs and fingerprints

export { canonicalizeUrl, fingerprint, safeUrlString, urlJoin } from '@webloom/core'

// Items

export {
  type CheckedItem,
  Compose,
  Identity,
  InvalidItem,
  ItemLoader,
  type ItemLoaderOptions,
  item,
  Join,
  type LoaderProcessor,
  MapCompose,
  SelectJmes,
  type StandardSchema,
  TakeFirst,
} from '@webloom/spider'

// Moved to webloom/ports; here until 1.0

export {
  /** @deprecated `import type { ComponentClass } from 'webloom/ports'` */
  type ComponentClass,
  /** @deprecated `import type { CookiesInit } from 'webloom/ports'` */
  type CookiesInit,
  /** @deprecated `import type { Crawler } from 'webloom/ports'` */
  type Crawler,
  /** @deprecated `import type { DownloaderMiddleware } from 'webloom/ports'` */
  type DownloaderMiddleware,
  /** @deprecated `import type { DownloadHandler } from 'webloom/ports'` */
  type DownloadHandler,
  /** @deprecated `import type { DownloadOptions } from 'webloom/ports'` */
  type DownloadOptions,
  /** @deprecated `import type { DownloadResult } from 'webloom/ports'` */
  type DownloadResult,
  /** @deprecated `import type { DupeFilter } from 'webloom/ports'` */
  type DupeFilter,
  /** @deprecated `import type { DupeFilterDescription } from 'webloom/ports'` */
  type DupeFilterDescription,
  /** @deprecated `import type { Extension } from 'webloom/ports'` */
  type Extension,
  /** @deprecated `import type { FingerprintAlgorithm } from 'webloom/ports'` */
  type FingerprintAlgorithm,
  /** @deprecated `import type { FingerprintOptions } from 'webloom/ports'` */
  type FingerprintOptions,
  /** @deprecated `import type { FromCurlInit } from 'webloom/ports'` */
  type FromCurlInit,
  /** @deprecated `import type { ItemContext } from 'webloom/ports'` */
  type ItemContext,
  /** @deprecated `import type { ItemFeed } from 'webloom/ports'` */
  type ItemFeed,
  /** @deprecated `import type { ItemPipeline } from 'webloom/ports'` */
  type ItemPipeline,
  /** @deprecated `import type { Logger } from 'webloom/ports'` */
  type Logger,
  /** @deprecated `import { MemoryStatsCollector } from 'webloom/ports'` */
  MemoryStatsCollector,
  /** @deprecated `import type { MetaKeysRead } from 'webloom/ports'` */
  type MetaKeysRead,
  /** @deprecated `import { NotConfigured } from 'webloom/ports'` */
  NotConfigured,
  /** @deprecated `import type { ProtectionReason } from 'webloom/ports'` */
  type ProtectionReason,
  /** @deprecated `import type { RequestParts } from 'webloom/ports'` */
  type RequestParts,
  /** @deprecated `import { RetryLater } from 'webloom/ports'` */
  RetryLater,
  /** @deprecated `import type { RetryWhen } from 'webloom/ports'` */
  type RetryWhen,
  /** @deprecated `import type { Seen } from 'webloom/ports'` */
  type Seen,
  /** @deprecated `import { Settings } from 'webloom/ports'` */
  Settings,
  /** @deprecated `import type { SignalName } from 'webloom/ports'` */
  type SignalName,
  /** @deprecated `import { Signals } from 'webloom/ports'` */
  Signals,
  /** @deprecated `import type { SpiderMiddleware } from 'webloom/ports'` */
  type SpiderMiddleware,
  /** @deprecated `import type { StatsCollector } from 'webloom/ports'` */
  type StatsCollector,
  /** @deprecated `import type { UrlRules } from 'webloom/ports'` */
  type UrlRules,
} from '@webloom/core'
export {
  /** @deprecated `import { BrokenCacheEntry } from 'webloom/ports'` */
  BrokenCacheEntry,
  /** @deprecated `import type { CachedExchange } from 'webloom/ports'` */
  type CachedExchange,
  /** @deprecated `import type { CachedResponse } from 'webloom/ports'` */
  type CachedResponse,
  /** @deprecated `import { DummyPolicy } from 'webloom/ports'` */
  DummyPolicy,
  /** @deprecated `import { FileCacheStorage } from 'webloom/ports'` */
  FileCacheStorage,
  /** @deprecated `import type { HttpCachePolicy } from 'webloom/ports'` */
  type HttpCachePolicy,
  /** @deprecated `import type { HttpCacheStorage } from 'webloom/ports'` */
  type HttpCacheStorage,
  /** @deprecated `import type { RetryRequestOptions } from 'webloom/ports'` */
  type RetryRequestOptions,
  /** @deprecated `import { Rfc9111Policy } from 'webloom/ports'` */
  Rfc9111Policy,
  /** @deprecated `import { SqliteCacheStorage } from 'webloom/ports'` */
  SqliteCacheStorage,
} from '@webloom/downloader'
export {
  /** @deprecated `import { CountingBloomDupeFilter } from 'webloom/ports'` */
  CountingBloomDupeFilter,
  /** @deprecated `import { MemoryBloomDupeFilter } from 'webloom/ports'` */
  MemoryBloomDupeFilter,
  /** @deprecated `import { MemoryCountingBloomDupeFilter } from 'webloom/ports'` */
  MemoryCountingBloomDupeFilter,
  /** @deprecated `import { MemoryDupeFilter } from 'webloom/ports'` */
  MemoryDupeFilter,
  /** @deprecated `import { RedisBloomDupeFilter } from 'webloom/ports'` */
  RedisBloomDupeFilter,
  /** @deprecated `import { RedisKeyDupeFilter } from 'webloom/ports'` */
  RedisKeyDupeFilter,
  /** @deprecated `import { RedisSetDupeFilter } from 'webloom/ports'` */
  RedisSetDupeFilter,
  /** @deprecated `import { ShardedDupeFilter } from 'webloom/ports'` */
  ShardedDupeFilter,
  /** @deprecated `import { SplittableBloomDupeFilter } from 'webloom/ports'` */
  SplittableBloomDupeFilter,
} from '@webloom/dupefilter'
export {
  /** @deprecated `import type { FileOutcome } from 'webloom/ports'` */
  type FileOutcome,
  /** @deprecated `import type { FileResult } from 'webloom/ports'` */
  type FileResult,
  /** @deprecated `import { FilesPipeline } from 'webloom/ports'` */
  FilesPipeline,
  /** @deprecated `import type { FilesPipelineOptions } from 'webloom/ports'` */
  type FilesPipelineOptions,
  /** @deprecated `import type { FormChoice } from 'webloom/ports'` */
  type FormChoice,
  /** @deprecated `import type { FormDataInit } from 'webloom/ports'` */
  type FormDataInit,
  /** @deprecated `import type { FormValue } from 'webloom/ports'` */
  type FormValue,
  /** @deprecated `import type { FromResponseInit } from 'webloom/ports'` */
  type FromResponseInit,
  /** @deprecated `import type { ItemExporter } from 'webloom/ports'` */
  type ItemExporter,
  /** @deprecated `import type { ItemExporterOptions } from 'webloom/ports'` */
  type ItemExporterOptions,
  /** @deprecated `import type { LinkFilterOptions } from 'webloom/ports'` */
  type LinkFilterOptions,
  /** @deprecated `import type { LinkPage } from 'webloom/ports'` */
  type LinkPage,
  /** @deprecated `import type { LinkSource } from 'webloom/ports'` */
  type LinkSource,
  /** @deprecated `import type { LoaderContext } from 'webloom/ports'` */
  type LoaderContext,
  /** @deprecated `import type { LoaderField } from 'webloom/ports'` */
  type LoaderField,
  /** @deprecated `import type { OneOrMore } from 'webloom/ports'` */
  type OneOrMore,
  /** @deprecated `import { RedisPipeline } from 'webloom/ports'` */
  RedisPipeline,
  /** @deprecated `import type { SeedFormat } from 'webloom/ports'` */
  type SeedFormat,
  /** @deprecated `import type { SeedRequestOptions } from 'webloom/ports'` */
  type SeedRequestOptions,
  /** @deprecated `import { SqlPipeline } from 'webloom/ports'` */
  SqlPipeline,
  /** @deprecated `import type { UrlPattern } from 'webloom/ports'` */
  type UrlPattern,
} from '@webloom/spider'

// Not for components of one's own: no setting takes one. Here until 1.0, and in the package of each

export type {
  /** @deprecated `import type { HostClock } from '@webloom/core'` */
  HostClock,
  /** @deprecated `import type { Lease } from '@webloom/core'` */
  Lease,
  /** @deprecated `import type { QueueCounts } from '@webloom/core'` */
  QueueCounts,
  /** @deprecated `import type { QueuedRequest } from '@webloom/core'` */
  QueuedRequest,
  /** @deprecated `import type { RequestQueue } from '@webloom/core'` */
  RequestQueue,
  /** @deprecated `import type { Seed } from '@webloom/core'` */
  Seed,
  /** @deprecated `import type { SeedSource } from '@webloom/core'` */
  SeedSource,
} from '@webloom/core'
export {
  /** @deprecated `import type { AnswerTime } from '@webloom/downloader'` */
  type AnswerTime,
  /** @deprecated `import { nextDelay } from '@webloom/downloader'` */
  nextDelay,
  /** @deprecated `import type { ThrottleRules } from '@webloom/downloader'` */
  type ThrottleRules,
} from '@webloom/downloader'
export {
  /** @deprecated `import { bloomOffsets } from '@webloom/dupefilter'` */
  bloomOffsets,
} from '@webloom/dupefilter'
export {
  /** @deprecated `import { MemoryHostClock } from '@webloom/queue'` */
  MemoryHostClock,
  /** @deprecated `import { MemoryRequestQueue } from '@webloom/queue'` */
  MemoryRequestQueue,
  /** @deprecated `import { RedisSeedSource } from '@webloom/queue'` */
  RedisSeedSource,
} from '@webloom/queue'
export {
  /** @deprecated `import { IGNORED_EXTENSIONS } from '@webloom/selectors'` */
  IGNORED_EXTENSIONS,
} from '@webloom/spider'
