// Each group's comment is followed by an empty line: Biome then sorts within the groups and leaves them apart.

// Requests and responses

export { bodyBytesMaxOf, downloadTimeoutMsOf } from './requests/download-bounds.ts'
export { checkHeader, Headers, type HeadersInit } from './requests/headers.ts'
export { isFlatJson, type JsonObject, jsonCopy } from './requests/json.ts'
export { checkMeta, metaKeyMeant } from './requests/meta-check.ts'
export { type MetaKeys, type MetaKeysRead, OF_ONE_VISIT, type RequestMeta } from './requests/meta-keys.ts'
export { referrerPolicyFor } from './requests/referrer-policy-for.ts'
export { putUnderRules, Request } from './requests/request.ts'
export {
  REQUEST_JSON_VERSION,
  type RequestJson,
  requestFromJson,
  requestToJson,
} from './requests/request-json.ts'
export { checkedRequestJson } from './requests/request-json-check.ts'
export {
  type Callback,
  type CookiesInit,
  type FromCurlInit,
  REQUEST_OPTIONS,
  type RequestInit,
  type RequestParts,
  requestInit,
  undefinedParts,
} from './requests/request-parts.ts'
export { Response, type ResponseInit } from './requests/response.ts'

// Pages that a browser renders

export type {
  BlockedLoad,
  BrowserClick,
  BrowserOptions,
  CapturedAnswer,
  Rendered,
} from './browser/browser-options.ts'
export { BLOCKED_KINDS, browserOptionsProblem } from './browser/browser-options-check.ts'

// What makes requests equal, and what a crawl knows of their URLs

export {
  createFingerprinter,
  createUrlDigester,
  type FingerprintAlgorithm,
  type Fingerprinter,
  type FingerprintOptions,
  fingerprint,
  type UrlDigest,
} from './fingerprints/fingerprint.ts'
export { filterFingerprinterOf, fingerprinterOf } from './fingerprints/fingerprinter-of.ts'
export {
  CrawlUrlRules,
  crawlUrlRules,
  fingerprinterNote,
  fingerprinterOfNote,
  fingerprinterShown,
  urlRulesOf,
  urlRulesOfNote,
} from './fingerprints/url-rules-of.ts'
export { CompactRequest, CompactRequests } from './memory/compact-request.ts'
export { PassingMap, PassingSet } from './memory/passing-map.ts'
export { UrlMemory } from './memory/url-memory.ts'
export type { KnownUrl } from './requests/known-url.ts'

// What a process keeps of hosts, within a number of bytes

export { ENTRY_BYTES, RecentBytes } from './memory/recent-bytes.ts'
export { BYTES_PER_SITE, type SiteAnswer, SiteTable } from './memory/site-table.ts'

// A crawl's own vocabulary

export {
  buildComponents,
  fromCrawler,
  functionShown,
  isClass,
  opened,
  type Placed,
  requireHooks,
  requireMethods,
} from './crawl/component.ts'
export type {
  ComponentClass,
  Crawler,
  CrawlRun,
  DownloaderInside,
  HostLookup,
  OtherWorkers,
  ShardPart,
} from './crawl/crawler.ts'
export { highest } from './crawl/highest.ts'
export { type HostListSource, HostListSources } from './crawl/host-list-sources.ts'
export {
  ANSWERING_HOSTS_MAX,
  type AnsweringHost,
  boundedHostLists,
  type FailingHost,
  type GivenUpHost,
  HOST_ERRORS_MAX,
  HOST_LIST_MAX,
  HOST_LISTS_BYTES_MAX,
  type HostError,
  type HostLists,
  mergedAnswers,
  mergedHostLists,
  type PausedHost,
  type RecoveredHost,
  readableHostLists,
  SLOW_FROM_MS,
  type SlowHost,
  shiftedHostLists,
  UNANSWERED_FROM_MS,
  type UnansweredHost,
} from './crawl/host-lists.ts'
export { type Logger, type LogLevel, logLevel, silentLogger } from './crawl/logger.ts'
export { persistsOf } from './crawl/persists-of.ts'
export {
  type SignalHandler,
  type SignalName,
  type SignalPayloads,
  Signals,
  signals,
} from './crawl/signals.ts'
export type { SpiderLike } from './crawl/spider-like.ts'
export { chainOf, methodNamed, properties as spiderProperties } from './crawl/spider-methods.ts'
export { MemoryStatsCollector, type StatsCollector, type StatValue } from './crawl/stats.ts'
export { type ProtectionReason, protectionStat } from './errors/protection-reason.ts'
export {
  type CrawlName,
  checkKeyPattern,
  crawlKey,
  crawlNameOf,
  crawlQueueName,
  crawlTitle,
  type KeyPrefixes,
  keyPrefixesOf,
} from './redis/crawl-keys.ts'
export { PROTOCOL_TIMES, type ProtocolTimes, scaledTimes } from './waiting/protocol-times.ts'

// Failures

export { failureSignature, OTHER_FAILURES } from './failures/failure-signature.ts'

// Ports

export { completeDupeFilter, type SimpleDupeFilter } from './crawl/complete-dupefilter.ts'
export { MONITOR_NAMES, type MonitorName } from './metrics/monitor-names.ts'
export {
  BUDGET_KINDS,
  BUDGET_WINDOWS,
  type BudgetAsk,
  type BudgetBook,
  type BudgetEnd,
  type BudgetKind,
  type BudgetLimits,
  type BudgetPlan,
  type BudgetSpent,
  type BudgetTerms,
  type BudgetWindow,
  NOTHING_SPENT,
  type Spent,
  type SpentStore,
  spendIn,
  spentKind,
} from './ports/budget-book.ts'
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
export { type DupeFilter, type DupeFilterDescription, inDoubtAsker, type Seen } from './ports/dupefilter.ts'
export type { Egress, EgressOptions, EgressRefusal, OpenEgress } from './ports/egress.ts'
export {
  FAILURE_REASONS,
  type FailureEvent,
  type FailureLedger,
  type FailureReason,
  type FailureSnapshot,
  type FailureSummary,
  type GivenUp,
  type LedgerCounts,
  type LedgerEntry,
  type LedgerGroup,
  type LedgerPage,
} from './ports/failure-ledger.ts'
export type {
  DocumentClock,
  DocumentPace,
  HostClock,
  HostNews,
  HostOrder,
  HostOrders,
  HostPace,
  HostState,
  LeavingDocument,
} from './ports/host-clock.ts'
export { laterNews, strictestNews } from './ports/host-news.ts'
export {
  type FormVerdicts,
  isForBrowser,
  isFormOpen,
  isHtmlAnswer,
  type PageForm,
  type PageForms,
  VERDICTS_MAX,
  withVerdict,
} from './ports/page-forms.ts'
export type { Extension, GonePage, ItemContext, ItemFeed, ItemPipeline } from './ports/pipeline.ts'
export {
  type CommitOptions,
  type FailedDoubt,
  type InFlight,
  LEASE_WAIT_MS_MAX,
  /** @deprecated It is `LEASE_WAIT_MS_MAX`. */
  LEASE_WAIT_MS_MAX as LEASE_WAIT_MAX_MS,
  type Lease,
  type LinkDoubts,
  type QueueCounts,
  type QueuedRequest,
  type QueuedSlot,
  type QueueHeld,
  type QueueOrder,
  REJECTIONS_MAX,
  type RequestQueue,
  type RetryWhen,
  type SlotNow,
  START_BATCH_MAX,
  type StartRequest,
} from './ports/request-queue.ts'
export type { Seed, SeedSource } from './ports/seed-source.ts'
export type { SpiderMiddleware } from './ports/spider-middleware.ts'
export type { StartHosts } from './ports/start-hosts.ts'
export type {
  AnswerHeaders,
  KnownValidators,
  PageValidation,
  ValidatedAnswer,
  VisitMade,
  VisitOutcome,
  VisitRules,
  VisitsUnderWay,
} from './ports/visit-rules.ts'
export type {
  AskedPage,
  ChangeEvidence,
  DuePages,
  FoundVisit,
  KeptVisits,
  Visit,
  VisitedPage,
  VisitStore,
  VisitTotals,
} from './ports/visit-store.ts'
export {
  type MonitorNotes,
  NO_NOTES,
  type Notification,
  type OutgoingMessage,
  type PastRun,
  type RunCheckpoint,
  type RunClock,
  type RunLog,
  type RunLook,
  type RunState,
} from './runs/run-log.ts'
export {
  carriedVisit,
  carryVisit,
  doubtingVisit,
  isVisitDoubted,
  withoutVisit,
} from './visits/carried-visit.ts'
export { HOUR_MS } from './visits/hours.ts'
export {
  type DateRecord,
  type HostRecord,
  KnownHosts,
  pageHost,
  type ValidatorRecord,
} from './visits/known-hosts.ts'
export { lacksCallback, NO_CALLBACK } from './visits/lacking-callback.ts'
export { isNeverVisited } from './visits/never-visited.ts'
export { isInALine, visitFromBytes, visitToBytes } from './visits/visit-bytes.ts'

// A crawl as it is seen from outside

export type { CrawlDesk, CrawlDesks } from './desk/crawl-desk.ts'
export {
  CRAWL_STATES,
  type CrawlLimit,
  type CrawlState,
  type CrawlStatus,
  type CrawlSummary,
  type CrawlTotals,
  LIMIT_KINDS,
  type LimitKind,
  linesAt,
  type Moment,
  type SeedsSeen,
  type ServerSeen,
  type SilentShard,
  silentWords,
  type TimeLeft,
  totalsOf,
  type WorkerCounts,
  type WorkerSeen,
} from './desk/crawl-status.ts'
export type {
  FailedFilter,
  FailedRequest,
  FailedRetried,
  FailureGroup,
  FailuresSeen,
  ResponseSnapshot,
} from './desk/failures-seen.ts'
export type { FilterSeen, KnownSeen, SettingSeen } from './desk/filter-seen.ts'
export type { Health, HealthAnswer } from './desk/health.ts'
export type { AlertSeen, HistorySample, ItemsSeen, RunSeen, UnsentSeen } from './desk/history-seen.ts'
export type {
  HostChange,
  HostsSeen,
  HostTotals,
  HostView,
  OneHostSeen,
  SlotState,
  SlotView,
} from './desk/hosts-seen.ts'
export type { ScaleSeen } from './desk/scale-seen.ts'
export type { ScheduledOutcome, ScheduledRunsSeen } from './desk/scheduled-runs-seen.ts'
export { type SkipSeen, skipsOf } from './desk/skips-seen.ts'
export { countOf, fieldsOfRuns } from './runs/run-fields.ts'
export { type RunFigures, runFigures, summedFigures } from './runs/run-figures.ts'
export { unsentOf, unsentWords } from './runs/unsent.ts'
export { slotNamed, slotTyped } from './settings/slot-named.ts'

// Stats as metrics

export {
  type MetricSource,
  OTHER_VALUE,
  SERIES_PER_CRAWL_MAX,
  STAT_METRICS,
  type StatMetric,
} from './metrics/metrics-table.ts'
export { type MetricSeries, statMetrics } from './metrics/stat-metrics.ts'
export {
  CALLBACK_TIMES,
  DOWNLOAD_TIMES,
  QUEUE_TIMES,
  statHistograms,
  TIME_HISTOGRAMS,
  TimeHistogram,
  type TimeHistogramRow,
  type TimesSeen,
} from './metrics/time-histograms.ts'

// Settings

export { environmentSettings, environmentVariable, unreadVariables } from './settings/environment-settings.ts'
export { pythonHint } from './settings/python-hint.ts'
export type {
  Component,
  ComponentEntry,
  Setting,
  SettingDict,
  SettingOrigin,
  SettingType,
} from './settings/setting-row.ts'
export {
  shownValue,
  withoutSecrets,
  withoutTextSecrets,
  withoutUrlSecrets,
} from './settings/setting-shown.ts'
export { suggestedNames } from './settings/setting-suggestions.ts'
export {
  type NumberSettingName,
  type SettingExplanation,
  Settings,
  type SettingsLayer,
  type SettingsLayers,
  type SettingsPlaces,
  type WrittenSettings,
} from './settings/settings.ts'
export type { KnownSettingsInput, SettingsInput } from './settings/settings-input.ts'
export { DUPEFILTER_NAMES, type DupeFilterName } from './settings/settings-table/scheduler.ts'
export {
  type CustomSettingName,
  isSettingName,
  SETTINGS_TABLE,
  type SettingName,
  type SettingNameOf,
  type SettingValue,
  settingRow,
  type WrittenSetting,
} from './settings/settings-table.ts'
export { type SettingTold, settingsTold } from './settings/settings-told.ts'

// Errors

export {
  CloseSpider,
  DownloadError,
  type DownloadFailureKind,
  DropItem,
  ERROR_CODES,
  type ErrorCode,
  IgnoreRequest,
  NotConfigured,
  SettingsError,
  UsageError,
  WebloomError,
} from './errors/errors.ts'
export { throwerOf, thrownBy } from './errors/thrown-by.ts'

// Redis, and requests of scrapy-redis

export { PICKLE_BYTES_MAX } from './python/read-pickle.ts'
export {
  decodeScrapyRequest,
  encodeScrapyRequest,
  SCRAPY_SERIALIZERS,
  type ScrapySerializer,
} from './python/scrapy-request.ts'
export {
  allMastersOf,
  askMasters,
  infoOf,
  isEnded,
  masterPlacesOf,
  mastersOf,
  rejectUnanswered,
  serverOfSlot,
} from './redis/cluster-client.ts'
export { isLockedOut, isLoginReply, markLockedOut } from './redis/quiet-login.ts'
export { addressOf, hasSpares, newRedisClient, tlsOptions as redisTlsOptions } from './redis/redis-client.ts'
export { redisNowMs } from './redis/redis-clock.ts'
export {
  asksFor,
  type ClientBehaviour,
  checkRedisRole,
  namesSpares,
  noRedis,
  REDIS_ROLES,
  type RedisClient,
  type RedisOptions,
  type RedisRole,
  type RedisTarget,
  redisTargets,
} from './redis/redis-options.ts'
export type { RedisTls, SentinelParams } from './redis/redis-params.ts'
export { luaScriptsIn, RedisScript, type ScriptRunner } from './redis/redis-script.ts'
export { type RedisAddress, redisUrlText, withoutPassword } from './redis/redis-url.ts'
export { argumentsAsked, hasOwnUser, withRightsCheck } from './redis/rights-check.ts'
export { ScriptRefusal } from './redis/script-refusal.ts'
export { reconnectWith } from './redis/silent-server.ts'
export {
  isRedisFull,
  isSlotMoving,
  redisError,
  redisRefusal,
  storeTrouble,
  withRedisCodes,
} from './redis/store-trouble.ts'

// What all packages need

export { makeFolder } from './files/make-folder.ts'
export { sqlite } from './files/node-sqlite.ts'
export { type Awaitable, isPromise } from './waiting/awaitable.ts'
export {
  NoAnswer,
  TIMER_MS_MAX,
  TIMER_SECONDS_MAX,
  timerMs,
  waitAtMost,
  withDeadline,
  within,
} from './waiting/deadline.ts'
export { type BegunWait, FreshWaits } from './waiting/fresh-waits.ts'
export { unlessAborted } from './waiting/unless-aborted.ts'

// What lies in the package of URLs

export {
  baseUrlOf,
  type CanonicalizeOptions,
  canonicalizeUrl,
  checkOptions,
  decodeText,
  detectEncoding,
  didYouMean,
  encoderFor,
  HEAD_BYTES,
  hostAndPort,
  hostNameOf,
  InvalidUrl,
  type JsonValue,
  type OptionNames,
  type OptionsPlace,
  originOf,
  ownCopy,
  quoter,
  type ReferrerPolicy,
  referrerOf,
  type SafeUrlOptions,
  safeUrlString,
  splitParams,
  type UrlParts,
  type UrlRules,
  urlEncodingOf,
  urlJoin,
  urlSplit,
  valueShown,
  WebloomError as CodedError,
} from '@webloom/url'
