// Cookies

export type { CookieJarStore } from './cookies/cookie-jar-store.ts'
export type { KeptCookie } from './cookies/kept-cookie.ts'
export { MemoryCookieJarStore, type MemoryCookieJarStoreOptions } from './cookies/memory-cookie-jar-store.ts'
export {
  COOKIES_KEY,
  type CookiesRedis,
  RedisCookieJarStore,
  type RedisCookieJarStoreOptions,
} from './cookies/redis-cookie-jar-store.ts'

// HTTP cache

export { DummyPolicy } from './cache/dummy-policy.ts'
export { FileCacheStorage } from './cache/file-cache-storage.ts'
export type { CachedResponse, HttpCachePolicy } from './cache/http-cache-policy.ts'
export {
  BrokenCacheEntry,
  type CachedExchange,
  type HttpCacheStorage,
  type HttpCacheStorageOptions,
} from './cache/http-cache-storage.ts'
export { Rfc9111Policy, type Rfc9111PolicyOptions } from './cache/rfc9111-policy.ts'
export { SqliteCacheStorage } from './cache/sqlite-cache-storage.ts'

// The way of a request

export { Downloader, type DownloaderOptions } from './downloader.ts'
export { DataDownloadHandler } from './handlers/data-download-handler.ts'
export {
  BROWSER_HANDLER,
  type DownloadHandlers,
  downloadHandlersOf,
  handlerFor,
} from './handlers/download-handlers.ts'
export { FileDownloadHandler, type FileDownloadHandlerOptions } from './handlers/file-download-handler.ts'
export { handlerAnswer, ownHandlerOf } from './handlers/handler-answer.ts'
export { type DownloadDeadline, downloadDeadlineOf } from './handlers/in-time.ts'
export type { ExchangeLimits } from './http/exchange-limits.ts'
export {
  type HttpConnections,
  HttpDownloadHandler,
  type HttpDownloadHandlerOptions,
} from './http/http-download-handler.ts'
export { composeMiddlewares } from './middleware-onion.ts'

// Connections

export { Connections, type ConnectionsOptions } from './connecting/connections.ts'
export { HostAddresses, type HostAddressesOptions } from './connecting/host-addresses.ts'
export { EgressGate, type EgressGateOptions } from './egress/egress-gate.ts'
export { EnvironmentProxies } from './proxies/environment-proxies.ts'
export type { ProxyAddress } from './proxies/proxy-address.ts'

// Middlewares

export { budgetPlanOf } from './budgets/budget-plan.ts'
export { budgetDay } from './budgets/days.ts'
export { AutoThrottle, type AutoThrottleOptions } from './middlewares/auto-throttle.ts'
export { BinaryPageMiddleware, type BinaryPageMiddlewareOptions } from './middlewares/binary-page.ts'
export { BudgetsMiddleware, type BudgetsOptions } from './middlewares/budgets.ts'
export { CookieHeaderMiddleware } from './middlewares/cookie-header.ts'
export { CookiesMiddleware, type CookiesMiddlewareOptions } from './middlewares/cookies.ts'
export { DefaultHeadersMiddleware } from './middlewares/default-headers.ts'
export { DownloadTimeoutMiddleware } from './middlewares/download-timeout.ts'
export { DownloadTimesMiddleware } from './middlewares/download-times.ts'
export { DownloaderStatsMiddleware } from './middlewares/downloader-stats.ts'
export { GivenUpHostsMiddleware, type GivenUpHostsOptions } from './middlewares/given-up-hosts.ts'
export { HostBackOffMiddleware, type HostBackOffOptions } from './middlewares/host-back-off.ts'
export { type HttpAuth, HttpAuthMiddleware } from './middlewares/http-auth.ts'
export { HttpCacheMiddleware, type HttpCacheMiddlewareOptions } from './middlewares/http-cache.ts'
export {
  HttpCompressionMiddleware,
  type HttpCompressionMiddlewareOptions,
} from './middlewares/http-compression.ts'
export { HttpProxyMiddleware, type HttpProxyMiddlewareOptions } from './middlewares/http-proxy.ts'
export { MetaRefreshMiddleware, type MetaRefreshMiddlewareOptions } from './middlewares/meta-refresh.ts'
export { OffsiteMiddleware } from './middlewares/offsite.ts'
export { RedirectMiddleware, type RedirectMiddlewareOptions } from './middlewares/redirect.ts'
export { RetryMiddleware, type RetryMiddlewareOptions } from './middlewares/retry.ts'
export {
  type CrawlDelayPolicy,
  RobotsTxtMiddleware,
  type RobotsTxtMiddlewareOptions,
  type RobotsTxtPaceListeners,
} from './middlewares/robots-txt.ts'
export { UnreadRequestsMiddleware } from './middlewares/unread-requests.ts'
export { UserAgentMiddleware } from './middlewares/user-agent.ts'

// Pace

export type { HostBackOffRules } from './pace/host-back-off.ts'
export type { HostOf } from './pace/host-of.ts'
export { type BadSighting, type HostPause, HostWatch } from './pace/host-watch.ts'
export { type AnswerTime, nextDelay, type ThrottleRules } from './pace/next-delay.ts'
export { type SentDownload, unansweredHosts } from './pace/unanswered-hosts.ts'

// Pages that are visited again

export { HostValidation, type HostValidationOptions } from './recrawl/host-validation.ts'

// robots.txt

export {
  RedisRobotsStore,
  type RedisRobotsStoreOptions,
  ROBOTS_KEY,
  type RobotsRedis,
} from './robots/redis-robots-store.ts'
export type { RobotsDownload } from './robots/robots-fetch.ts'
export {
  MemoryRobotsStore,
  type MemoryRobotsStoreOptions,
  type RobotsAbsent,
  type RobotsEntry,
  type RobotsRules,
  type RobotsStore,
  type RobotsUnreachable,
} from './robots/robots-store.ts'
export { RobotsTxt } from './robots/robots-txt.ts'

// For callbacks

export { getRetryRequest, type RetryRequestOptions } from './retrying/next-try.ts'
