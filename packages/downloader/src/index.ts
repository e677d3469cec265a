// Cookies

export type { CookieJarStore } from './cookies/cookie-jar-store.ts'
export type { KeptCookie } from './cookies/kept-cookie.ts'
export { MemoryCookieJarStore, type MemoryCookieJarStoreOptions } from './cookies/memory-cookie-jar-store.ts'

// The way of a request

export { Downloader, type DownloaderOptions } from './downloader.ts'
export { HttpDownloadHandler, type HttpDownloadHandlerOptions } from './http-download-handler.ts'
export { composeMiddlewares } from './middleware-onion.ts'

// Middlewares

export { CookiesMiddleware, type CookiesMiddlewareOptions } from './middlewares/cookies.ts'
export { DownloaderStatsMiddleware } from './middlewares/downloader-stats.ts'
export { HttpCompressionMiddleware } from './middlewares/http-compression.ts'
export { HttpProxyMiddleware, type HttpProxyMiddlewareOptions } from './middlewares/http-proxy.ts'
export { MetaRefreshMiddleware, type MetaRefreshMiddlewareOptions } from './middlewares/meta-refresh.ts'
export { OffsiteMiddleware } from './middlewares/offsite.ts'
export { RedirectMiddleware, type RedirectMiddlewareOptions } from './middlewares/redirect.ts'
export { RequestCookiesMiddleware } from './middlewares/request-cookies.ts'
export {
  DefaultHeadersMiddleware,
  DownloadTimeoutMiddleware,
  UserAgentMiddleware,
} from './middlewares/request-defaults.ts'
export { RetryMiddleware, type RetryMiddlewareOptions } from './middlewares/retry.ts'

// For callbacks

export { getRetryRequest, type RetryRequestOptions } from './retrying/next-try.ts'
