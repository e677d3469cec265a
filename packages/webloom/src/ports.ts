/**
 * `webloom/ports`: for components of one's own. What they implement, what they are given, classes to extend, and each type
 * that one of these mentions. What spiders use is in `webloom`; types that its exports mention and that spiders seldom write
 * are here, too.
 */

// How a component is made, and what a crawl gives it

export {
  type AnsweringHost,
  type BudgetAsk,
  type BudgetBook,
  type BudgetEnd,
  type BudgetKind,
  type BudgetLimits,
  type BudgetSpent,
  type BudgetTerms,
  type BudgetWindow,
  type ComponentClass,
  type Crawler,
  type CrawlName,
  type CrawlRun,
  crawlKey,
  crawlNameOf,
  type DownloaderInside,
  type Egress,
  type EgressOptions,
  type EgressRefusal,
  type FailingHost,
  type GivenUpHost,
  type HostError,
  type HostListSource,
  type HostListSources,
  type HostLists,
  type HostLookup,
  type KeyPrefixes,
  type Logger,
  MemoryStatsCollector,
  NotConfigured,
  type OpenEgress,
  type OtherWorkers,
  type PausedHost,
  type ProtocolTimes,
  type QueuedSlot,
  type QueueHeld,
  type RecoveredHost,
  type RedisClient,
  type RedisRole,
  type ScriptRunner,
  Settings,
  type ShardPart,
  Signals,
  type SlowHost,
  type SpiderLike,
  type StartHosts,
  type StatsCollector,
  type UnansweredHost,
} from '@webloom/core'

// Middlewares, extensions, pipelines

export {
  type Awaitable,
  type BodyTo,
  type DocumentPace,
  type DownloaderMiddleware,
  type DownloadHandler,
  type DownloadOptions,
  type DownloadResult,
  type Extension,
  type FetchOptions,
  type GonePage,
  type HostNews,
  type HostState,
  type ItemContext,
  type ItemPipeline,
  type LeavingDocument,
  type Response as PlainResponse,
  type ResponseInit as PlainResponseInit,
  RetryLater,
  type RetryWhen,
  type SpiderMiddleware,
} from '@webloom/core'
export {
  type FileOutcome,
  type FileResult,
  FilesPipeline,
  type FilesPipelineOptions,
  type ItemsRedis,
  RedisPipeline,
  type RedisPipelineOptions,
  type SqlColumn,
  SqlPipeline,
  type SqlPipelineOptions,
  type SqlShape,
} from '@webloom/spider'

// Dupefilters

export type {
  CrawlUrlRules,
  DupeFilter,
  DupeFilterDescription,
  Fingerprinter,
  KnownUrl,
  ScriptRefusal,
  Seen,
  SimpleDupeFilter,
} from '@webloom/core'
export {
  type Asked,
  type BloomCompat,
  type BloomDescription,
  type BloomFullness,
  type BloomKind,
  type BloomLayer,
  type BloomLayout,
  type BloomMode,
  type BloomOnFull,
  type BloomOptions,
  type BloomParameters,
  type BloomPartition,
  type BloomPartitionOptions,
  type BloomRecord,
  type CountedLayer,
  CountingBloomDupeFilter,
  type CountingBloomDupeFilterOptions,
  type Elsewhere,
  type FilterKeys,
  type FullestHost,
  filterKeyOf,
  type HostBloomDescription,
  MemoryBloomDupeFilter,
  type MemoryBloomDupeFilterOptions,
  MemoryCountingBloomDupeFilter,
  type MemoryCountingBloomDupeFilterOptions,
  MemoryDupeFilter,
  MemoryHostBloomDupeFilter,
  type MemoryHostBloomDupeFilterOptions,
  type OnQueueBack,
  type PartOfFilter,
  type ProcessDupeFilter,
  type ProcessDupeFilterOptions,
  type RecordedBloomDupeFilter,
  type RecordedBloomOptions,
  type RedisArgument,
  RedisBloomDupeFilter,
  type RedisBloomDupeFilterOptions,
  type RedisConnection,
  RedisDupeFilter,
  type RedisDupeFilterOptions,
  RedisHostBloomDupeFilter,
  type RedisHostBloomDupeFilterOptions,
  type RedisKeyDescription,
  RedisKeyDupeFilter,
  type RedisKeyDupeFilterOptions,
  type RedisRunId,
  RedisSetDupeFilter,
  type RedisSetDupeFilterOptions,
  redisFilterOptionsOf,
  type SetMembers,
  type Shard,
  type ShardedDescription,
  ShardedDupeFilter,
  type ShardedDupeFilterOptions,
  SplittableBloomDupeFilter,
  type SplittableBloomDupeFilterOptions,
  type SplittableDescription,
  type SplittableOptions,
  type StoreQuestion,
} from '@webloom/dupefilter'

// Fetching

export {
  type ExchangeLimits,
  type HttpConnections,
  HttpDownloadHandler,
  type HttpDownloadHandlerOptions,
} from '@webloom/downloader'

// The HTTP cache

export {
  BrokenCacheEntry,
  type CachedExchange,
  type CachedResponse,
  DummyPolicy,
  FileCacheStorage,
  type HttpCachePolicy,
  type HttpCacheStorage,
  type HttpCacheStorageOptions,
  Rfc9111Policy,
  type Rfc9111PolicyOptions,
  SqliteCacheStorage,
} from '@webloom/downloader'

// Feeds

export type { ItemFeed } from '@webloom/core'
export type { FeedStorage, ItemExporter, ItemExporterOptions } from '@webloom/spider'

// Finding spiders

export type { SpiderLoader } from './loading/own-spider-loader.ts'

// What `webloom` mentions of requests, URLs and errors

export type {
  CanonicalizeOptions,
  CodedError,
  CookiesInit,
  DownloadFailureKind,
  ErrorCode,
  FingerprintAlgorithm,
  FingerprintOptions,
  FromCurlInit,
  MetaKeysRead,
  ProtectionReason,
  RequestParts,
  SafeUrlOptions,
  UrlMemory,
  UrlRules,
} from '@webloom/core'
export type { RetryRequestOptions } from '@webloom/downloader'
export type {
  FormChoice,
  FormDataInit,
  FormValue,
  FromResponseInit,
  JsonRequestChanges,
  SeedFormat,
  SeedRequestOptions,
} from '@webloom/spider'

// What `webloom` mentions of settings and signals

export type {
  CustomSettingName,
  KnownSettingsInput,
  NumberSettingName,
  SettingDict,
  SettingExplanation,
  SettingName,
  SettingNameOf,
  SettingsLayer,
  SettingsLayers,
  SettingsPlaces,
  SettingValue,
  SignalHandler,
  SignalName,
  WrittenSetting,
  WrittenSettings,
} from '@webloom/core'
export type { SpiderSource } from './loading/config.ts'

// What `webloom` mentions of pages, their parts and their links

export type {
  Attribute,
  FollowTarget,
  HtmlParser,
  LinkFilterOptions,
  LinkLike,
  LinkPage,
  LinkSource,
  MarkupType,
  OneOrMore,
  PageBounds,
  RegexOptions,
  SelectedPart,
  SelectorOptions,
  SelectorType,
  UrlPattern,
  XPathOptions,
  XPathVariable,
} from '@webloom/spider'

// What `webloom` mentions of items

export type {
  ComposeOptions,
  LoaderContext,
  LoaderField,
  LoaderFields,
  LoaderFound,
  LoaderPattern,
  LoaderSource,
  LoaderStep,
  SchemaIssue,
  SchemaOutput,
  SchemaResult,
} from '@webloom/spider'
