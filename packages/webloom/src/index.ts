// Each group's comment is followed by an empty line: Biome then sorts within the groups and leaves them apart.

// What a spider author writes and gets

export {
  type Callback,
  type CookiesInit,
  type FromCurlInit,
  Headers,
  type HeadersInit,
  type JsonObject,
  type JsonValue,
  type MetaKeys,
  type MetaKeysRead,
  Request,
  type RequestInit,
  type RequestMeta,
  type RequestParts,
} from '@webloom/core'
export {
  type Failure,
  HttpError,
  RedisSpider,
  Response,
  type ResponseInit,
  requestFromSeed,
  type SeedFormat,
  type SeedOutput,
  type SeedRequestOptions,
  Selector,
  SelectorList,
  Spider,
  type SpiderClass,
} from '@webloom/spider'

// Spiders that walk a site or read a feed by themselves, links, and requests of special kinds

export {
  CrawlSpider,
  CSVFeedSpider,
  type FormChoice,
  type FormDataInit,
  FormRequest,
  type FormRequestInit,
  type FormValue,
  type FromResponseInit,
  JsonRequest,
  type JsonRequestInit,
  type Link,
  LinkExtractor,
  type LinkExtractorOptions,
  type LinkFilterOptions,
  type LinkPage,
  type LinkSource,
  type OneOrMore,
  RedisCrawlSpider,
  type RedisSeeds,
  Rule,
  type RuleInit,
  type SitemapEntry,
  type SitemapRule,
  SitemapSpider,
  type SpiderOutput,
  type UrlPattern,
  XMLFeedSpider,
} from '@webloom/spider'

// What a callback may use

export { getRetryRequest, type RetryRequestOptions, RobotsTxt } from '@webloom/downloader'

// What a spider or component throws to say what it wants, and what it may catch

export {
  CloseSpider,
  DownloadError,
  DropItem,
  IgnoreRequest,
  InvalidUrl,
  NotConfigured,
  type ProtectionReason,
  SettingsError,
  UsageError,
  WebloomError,
} from '@webloom/core'

// Running a crawl

export { Settings, type SettingsInput } from '@webloom/core'
export type { CrawlResult } from './authoring/crawl.ts'
export { type CrawlCallOptions, crawl, crawlItems } from './authoring/crawl-api.ts'
export { defineConfig, type WebloomConfig } from './loading/config.ts'

// Signals and stats

export {
  type SignalName,
  type SignalPayloads,
  Signals,
  type StatValue,
  signals,
} from '@webloom/core'

// URLs and fingerprints

export {
  canonicalizeUrl,
  type FingerprintAlgorithm,
  type FingerprintOptions,
  fingerprint,
  safeUrlString,
  type UrlRules,
  urlJoin,
} from '@webloom/core'

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
  type LoaderContext,
  type LoaderField,
  type LoaderProcessor,
  MapCompose,
  SelectJmes,
  type StandardSchema,
  TakeFirst,
} from '@webloom/spider'

// Moved to webloom/ports; here until 1.0

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
  type ItemContext,
  type ItemFeed,
  type ItemPipeline,
  type Logger,
  MemoryStatsCollector,
  RetryLater,
  type RetryWhen,
  type Seen,
  type SpiderMiddleware,
  type StatsCollector,
} from '@webloom/core'
export {
  BrokenCacheEntry,
  type CachedExchange,
  type CachedResponse,
  DummyPolicy,
  FileCacheStorage,
  type HttpCachePolicy,
  type HttpCacheStorage,
  Rfc9111Policy,
  SqliteCacheStorage,
} from '@webloom/downloader'
export {
  CountingBloomDupeFilter,
  MemoryBloomDupeFilter,
  MemoryCountingBloomDupeFilter,
  MemoryDupeFilter,
  RedisBloomDupeFilter,
  RedisKeyDupeFilter,
  RedisSetDupeFilter,
  ShardedDupeFilter,
  SplittableBloomDupeFilter,
} from '@webloom/dupefilter'
export {
  type FileOutcome,
  type FileResult,
  FilesPipeline,
  type FilesPipelineOptions,
  type ItemExporter,
  type ItemExporterOptions,
  RedisPipeline,
  SqlPipeline,
} from '@webloom/spider'

// Not for components of one's own: no setting takes one. Here until 1.0, and in the package of each

export type {
  HostClock,
  Lease,
  QueueCounts,
  QueuedRequest,
  RequestQueue,
  Seed,
  SeedSource,
} from '@webloom/core'
export { type AnswerTime, nextDelay, type ThrottleRules } from '@webloom/downloader'
export { bloomOffsets } from '@webloom/dupefilter'
export { MemoryHostClock, MemoryRequestQueue, RedisSeedSource } from '@webloom/queue'
export { IGNORED_EXTENSIONS } from '@webloom/spider'
