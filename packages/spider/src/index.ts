// What a spider author writes and gets

export type { Failure } from './callback-output.ts'
export { type CallbackOutput, SpiderClosing } from './callback-output.ts'
export { callbackName, methodNamed } from './callbacks.ts'
// The crawl
export {
  Engine,
  type EngineActivity,
  type EngineOptions,
} from './engine.ts'
export type { EngineDownloader, EngineScheduler } from './engine-ports.ts'
export { CloseSpiderExtension } from './extensions/close-spider.ts'
// Extensions
export { CoreStats } from './extensions/core-stats.ts'
export { LogStats } from './extensions/log-stats.ts'
export { MemoryUsage } from './extensions/memory-usage.ts'
// Feeds
export {
  feedsFrom,
  type ItemExporter,
  type ItemExporterClass,
  type ItemExporterOptions,
  parseOutputArgument,
} from './feeds/index.ts'
// Deadlines
export { inTime } from './in-time.ts'
export { ItemProcessor, type ItemProcessorOptions } from './item-processor.ts'
// Items
export { type CheckedItem, InvalidItem, item } from './items/item.ts'
export {
  ItemLoader,
  type ItemLoaderOptions,
  type LoaderContext,
  type LoaderField,
  type LoaderFields,
  type LoaderFound,
  type LoaderPattern,
  type LoaderSource,
  type LoaderStep,
} from './items/item-loader.ts'
export {
  Compose,
  type ComposeOptions,
  Identity,
  Join,
  type LoaderProcessor,
  MapCompose,
  SelectJmes,
  TakeFirst,
} from './items/loader-processors.ts'
export type {
  SchemaInput,
  SchemaIssue,
  SchemaOutput,
  SchemaResult,
  StandardSchema,
} from './items/standard-schema.ts'
// Links of a page
export { IGNORED_EXTENSIONS } from './link-extractor/ignored-extensions.ts'
export { type Link, LinkExtractor, type LinkExtractorOptions } from './link-extractor/link-extractor.ts'
export type { LinkFilterOptions, OneOrMore } from './link-extractor/link-filter.ts'
export { couldNotBeHad } from './lost-page.ts'
export { type PageBounds, pageBoundsOf } from './page-bounds.ts'
// Pipelines
export {
  type FileOutcome,
  type FileResult,
  FilesPipeline,
  type FilesPipelineOptions,
} from './pipelines/files-pipeline.ts'
export {
  type ItemsRedis,
  RedisPipeline,
  type RedisPipelineOptions,
  redisPipelineFromCrawler,
} from './pipelines/redis-pipeline.ts'
export { SqlPipeline, type SqlPipelineOptions } from './pipelines/sql-pipeline.ts'
export type { SqlColumn, SqlShape } from './pipelines/sql-table.ts'
export {
  isRedisSpider,
  type RedisSeeds,
  RedisSpider,
  type SeededSpider,
  type SeedOptions,
  type SeedOutput,
  seedOptionsOf,
} from './redis-spider.ts'
export type { FormDataInit, FormValue } from './requests/form-data.ts'
export { FormRequest, type FormRequestInit, type FromResponseInit } from './requests/form-request.ts'
export type { FormChoice } from './requests/html-form.ts'
export { JsonRequest, type JsonRequestInit } from './requests/json-request.ts'
export { type FollowTarget, type LinkLike, Response, type ResponseInit } from './response.ts'
export { Scraper, type ScraperOptions } from './scraper.ts'
export { requestFromSeed, type SeedFormat, type SeedRequestOptions } from './seeds/seed-request.ts'
export { checkStrangersRequest } from './seeds/strangers-request.ts'
export type { HtmlParser } from './selectors/parse-document.ts'
export {
  type RegexOptions,
  Selector,
  type SelectorOptions,
  type SelectorType,
  type XPathOptions,
} from './selectors/selector.ts'
export { SelectorList } from './selectors/selector-list.ts'
export { createSpider, Spider, type SpiderClass } from './spider.ts'
export { DepthMiddleware } from './spider-middlewares/depth.ts'
// Spider middlewares, by their order
export { HttpError, HttpErrorMiddleware } from './spider-middlewares/http-error.ts'
export { PageBudgetsMiddleware, type PageBudgetsOptions } from './spider-middlewares/page-budgets.ts'
export { PathTrapsMiddleware } from './spider-middlewares/path-traps.ts'
export { RefererMiddleware } from './spider-middlewares/referer.ts'
export { DeclaredStartHosts, noteStartHost, StartHostsMiddleware } from './spider-middlewares/start-hosts.ts'
export { TrapChainsMiddleware } from './spider-middlewares/trap-chains.ts'
export { UrlLengthMiddleware } from './spider-middlewares/url-length.ts'
// Spiders that know how to walk a site or read a feed
export { CrawlSpider } from './spiders/crawl-spider.ts'
export { CSVFeedSpider } from './spiders/csv-feed-spider.ts'
export { RedisCrawlSpider } from './spiders/redis-crawl-spider.ts'
export { type LinkSource, Rule, type RuleInit } from './spiders/rule.ts'
export type { SitemapEntry } from './spiders/sitemap.ts'
export { type SitemapRule, SitemapSpider } from './spiders/sitemap-spider.ts'
export type { SpiderOutput } from './spiders/spider-output.ts'
export { XMLFeedSpider } from './spiders/xml-feed-spider.ts'
export type { UrlPattern } from './url-pattern.ts'
