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
  IGNORED_EXTENSIONS,
  JsonRequest,
  type JsonRequestInit,
  type Link,
  LinkExtractor,
  type LinkExtractorOptions,
  type LinkFilterOptions,
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
export type { CrawlResult } from './crawl.ts'
export { type CrawlCallOptions, crawl, crawlItems } from './crawl-api.ts'
export { defineConfig, type WebloomConfig } from './loading/config.ts'

// Signals and stats

export { type SignalName, type SignalPayloads, Signals, type StatsCollector, signals } from '@webloom/core'

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

// Pace

export { type AnswerTime, nextDelay, type ThrottleRules } from '@webloom/downloader'

// Implementations

export {
  bloomOffsets,
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
export { MemoryHostClock, MemoryRequestQueue, RedisSeedSource } from '@webloom/queue'
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
  type RetryWhen,
  type Seed,
  type SeedSource,
  type SpiderMiddleware,
} from '@webloom/core'
