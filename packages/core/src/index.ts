// Requests and responses

export { decodeText, detectEncoding, HEAD_BYTES, urlEncodingOf } from './charset.ts'
export { completeDupeFilter, type SimpleDupeFilter } from './complete-dupefilter.ts'
export { buildComponents, fromCrawler, type Placed, requireHooks, requireMethods } from './component.ts'
export { type CrawlName, crawlKey, crawlQueueName } from './crawl-keys.ts'
export type { ComponentClass, Crawler, OtherWorkers, SpiderLike } from './crawler.ts'
// Errors
export {
  CloseSpider,
  DownloadError,
  type DownloadFailureKind,
  DropItem,
  ERROR_CODES,
  type ErrorCode,
  IgnoreRequest,
  InvalidUrl,
  NotConfigured,
  SettingsError,
  UsageError,
  WebloomError,
} from './errors.ts'
export {
  createFingerprinter,
  createUrlDigester,
  type FingerprintAlgorithm,
  type Fingerprinter,
  type FingerprintOptions,
  fingerprint,
  type UrlDigest,
} from './fingerprint.ts'
export { filterFingerprinterOf, fingerprinterOf } from './fingerprinter-of.ts'
export { checkHeader, Headers, type HeadersInit } from './headers.ts'
export { isFlatJson, type JsonObject, type JsonValue, jsonCopy } from './json.ts'
export { checkOptions, type OptionNames, type OptionsPlace, valueShown } from './known-options.ts'
export { linksFrom } from './known-url-of.ts'
export type { KnownUrl } from './known-urls.ts'
export { type Logger, type LogLevel, logLevel, silentLogger } from './logger.ts'
export type { MetaKeys, MetaKeysRead, RequestMeta } from './meta-keys.ts'
export { didYouMean } from './nearest-names.ts'
export { sqlite } from './node-sqlite.ts'
export { ownCopy } from './own-copy.ts'
// Ports
export type { CrawlPast, CrawlRecord } from './ports/crawl-record.ts'
export {
  type BodyTo,
  type DownloaderMiddleware,
  type DownloadHandler,
  type DownloadOptions,
  type DownloadResult,
  type FetchOptions,
  RetryLater,
} from './ports/downloader.ts'
export type { DupeFilter, DupeFilterDescription } from './ports/dupefilter.ts'
export type { HostClock, HostNews, HostPace, HostState } from './ports/host-clock.ts'
export type { Extension, ItemContext, ItemFeed, ItemPipeline } from './ports/pipeline.ts'
export {
  type CommitOptions,
  type InFlight,
  LEASE_WAIT_MAX_MS,
  type Lease,
  type QueueCounts,
  type QueuedRequest,
  type QueueOrder,
  REFUSALS_MAX,
  type RequestQueue,
  type RetryWhen,
  START_BATCH_MAX,
  type StartRequest,
} from './ports/request-queue.ts'
export type { Seed, SeedSource } from './ports/seed-source.ts'
export type { SpiderMiddleware } from './ports/spider-middleware.ts'
export type { StartHosts } from './ports/start-hosts.ts'
export { type ProtectionReason, protectionStat } from './protection-reason.ts'
export { PROTOCOL_TIMES, type ProtocolTimes, scaledTimes } from './protocol-times.ts'
export { PICKLE_BYTES_MAX } from './python/read-pickle.ts'
export {
  decodeScrapyRequest,
  encodeScrapyRequest,
  SCRAPY_SERIALIZERS,
  type ScrapySerializer,
} from './python/scrapy-request.ts'
// Redis
export {
  type RedisOptions,
  type RedisRole,
  type RedisTarget,
  redisTargets,
  withoutPassword,
} from './redis-options.ts'
export { RedisScript, type ScriptRunner } from './redis-script.ts'
export { type ReferrerPolicy, referrerOf, referrerPolicyFor } from './referrer-policy.ts'
export {
  type Callback,
  type CookiesInit,
  type FromCurlInit,
  putUnderRules,
  REQUEST_OPTIONS,
  Request,
  type RequestInit,
  type RequestParts,
  requestInit,
  undefinedParts,
} from './request.ts'
export { REQUEST_JSON_VERSION, type RequestJson, requestFromJson, requestToJson } from './request-json.ts'
export { Response, type ResponseInit } from './response.ts'

// Settings
export { environmentSettings } from './settings/environment-settings.ts'
export type {
  Component,
  ComponentEntry,
  Setting,
  SettingDict,
  SettingOrigin,
  SettingType,
} from './settings/setting-row.ts'
export { shownValue, withoutSecrets, withoutUrlSecrets } from './settings/setting-shown.ts'
export { suggestedNames } from './settings/setting-suggestions.ts'
export {
  type SettingExplanation,
  Settings,
  type SettingsLayer,
  type SettingsLayers,
  type SettingsPlaces,
  type WrittenSettings,
} from './settings/settings.ts'
export {
  type CustomSettingName,
  isSettingName,
  SETTINGS_TABLE,
  type SettingName,
  type SettingNameOf,
  type SettingsInput,
  type SettingValue,
  settingRow,
} from './settings/settings-table.ts'
export { type SignalName, type SignalPayloads, Signals, signals } from './signals.ts'
// A crawl's own vocabulary
export { MemoryStatsCollector, type StatsCollector, type StatValue } from './stats.ts'
// URLs and fingerprints
export { baseUrlOf } from './url/base-url.ts'
export { canonicalizeUrl } from './url/canonicalize-url.ts'
export { encoderFor } from './url/charset-encode.ts'
export { hostAndPort } from './url/host-and-port.ts'
export { urlJoin } from './url/join.ts'
export { quoter } from './url/percent.ts'
export { type SafeUrlOptions, safeUrlString } from './url/safe-url.ts'
export type { UrlRules } from './url/url-rules.ts'
export { splitParams, type UrlParts, urlSplit } from './url/urlsplit.ts'
export {
  CrawlUrlRules,
  crawlUrlRules,
  fingerprinterNote,
  fingerprinterOfNote,
  fingerprinterShown,
  urlRulesOf,
  urlRulesOfNote,
} from './url-rules-of.ts'
