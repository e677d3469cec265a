export { Downloader, type DownloaderOptions } from './downloader.ts'
export { HttpDownloadHandler, type HttpDownloadHandlerOptions } from './http-download-handler.ts'
export { composeMiddlewares } from './middleware-onion.ts'
export { DownloaderStatsMiddleware } from './middlewares/downloader-stats.ts'
export { HttpCompressionMiddleware } from './middlewares/http-compression.ts'
// Middlewares, by their order
export { OffsiteMiddleware } from './middlewares/offsite.ts'
export { RedirectMiddleware, type RedirectMiddlewareOptions } from './middlewares/redirect.ts'
export { RequestCookiesMiddleware } from './middlewares/request-cookies.ts'
export {
  DefaultHeadersMiddleware,
  DownloadTimeoutMiddleware,
  UserAgentMiddleware,
} from './middlewares/request-defaults.ts'
export { RetryMiddleware, type RetryMiddlewareOptions } from './middlewares/retry.ts'
