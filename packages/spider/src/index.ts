// What a spider author writes and gets

export { callbackName, methodNamed } from './callbacks.ts'
// The crawl
export {
  Engine,
  type EngineActivity,
  type EngineDownloader,
  type EngineOptions,
  type EngineScheduler,
} from './engine.ts'
export { CloseSpiderExtension } from './extensions/close-spider.ts'
// Extensions
export { CoreStats } from './extensions/core-stats.ts'
export { LogStats } from './extensions/log-stats.ts'
export { MemoryUsage } from './extensions/memory-usage.ts'
// Feeds
export { feedsFrom, parseOutputArgument } from './feeds/index.ts'
// Deadlines
export { inTime } from './in-time.ts'
export { ItemProcessor, type ItemProcessorOptions } from './item-processor.ts'
export {
  type ItemsRedis,
  RedisPipeline,
  type RedisPipelineOptions,
  redisPipelineFromCrawler,
} from './pipelines/redis-pipeline.ts'
export {
  isRedisSpider,
  RedisSpider,
  type SeedOptions,
  type SeedOutput,
  seedOptionsOf,
} from './redis-spider.ts'
export { type FollowTarget, type LinkLike, Response, type ResponseInit } from './response.ts'
export type { Failure } from './scraper.ts'
export { Scraper, type ScraperOptions } from './scraper.ts'
export { requestFromSeed, type SeedFormat } from './seeds/seed-request.ts'
export type { HtmlParser, SelectorType } from './selectors/parse-document.ts'
export { type RegexOptions, Selector, type SelectorOptions } from './selectors/selector.ts'
export { SelectorList } from './selectors/selector-list.ts'
export { createSpider, Spider, type SpiderClass } from './spider.ts'
export { DepthMiddleware } from './spider-middlewares/depth.ts'
// Spider middlewares, by their order
export { HttpError, HttpErrorMiddleware } from './spider-middlewares/http-error.ts'
export { RefererMiddleware } from './spider-middlewares/referer.ts'
export { UrlLengthMiddleware } from './spider-middlewares/url-length.ts'
