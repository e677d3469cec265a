// What a spider author writes and gets

export type { FormDataInit, FormValue } from './requests/form-data.ts'
export { FormRequest, type FormRequestInit, type FromResponseInit } from './requests/form-request.ts'
export type { FormChoice } from './requests/html-form.ts'
export { JsonRequest, type JsonRequestChanges, type JsonRequestInit } from './requests/json-request.ts'
export type { FollowTarget, LinkLike } from './responses/follow-targets.ts'
export { type CrawlsResponse, Response, type ResponseInit } from './responses/response.ts'
export type { PreviousVisit } from './responses/response-visit.ts'
export { type CallbackOutput, type Failure, SpiderClosing } from './scraping/callback-output.ts'
export { requestFromSeed, type SeedFormat, type SeedRequestOptions } from './seeds/seed-request.ts'
export { DeclaredStartHosts, noteStartHosts } from './seeds/start-hosts.ts'
export { checkStrangersRequest } from './seeds/strangers-request.ts'
export { createSpider, Spider, type SpiderClass } from './spider.ts'
export type { SpiderOutput } from './spiders/spider-output.ts'

// Selectors and links of a page, which are a package of their own

export {
  type Attribute,
  type HtmlParser,
  IGNORED_EXTENSIONS,
  type Link,
  LinkExtractor,
  type LinkExtractorOptions,
  type LinkFilterOptions,
  type LinkPage,
  type MarkupType,
  type OneOrMore,
  type RegexOptions,
  type SelectedPart,
  Selector,
  SelectorList,
  type SelectorOptions,
  type SelectorType,
  type UrlPattern,
  type XPathOptions,
  type XPathVariable,
} from '@webloom/selectors'

// Spiders that know how to walk a site or read a feed

export { CrawlSpider } from './spiders/crawl-spider.ts'
export { CSVFeedSpider } from './spiders/csv-feed-spider.ts'
export { RedisCrawlSpider } from './spiders/redis-crawl-spider.ts'
export {
  isRedisSpider,
  type RedisSeeds,
  RedisSpider,
  type SeededSpider,
  type SeedOptions,
  type SeedOutput,
  seedOptionsOf,
} from './spiders/redis-spider.ts'
export { type LinkSource, Rule, type RuleInit } from './spiders/rule.ts'
export type { SitemapEntry } from './spiders/sitemap.ts'
export { type SitemapRule, SitemapSpider } from './spiders/sitemap-spider.ts'
export { XMLFeedSpider } from './spiders/xml-feed-spider.ts'

// What a run must bring, and who is told

export type { MonitorAnswer, MonitoredRun, Monitors, StatusBound, StatusClass } from './monitor-rules.ts'
export { CrawlMonitors, type CrawlMonitorsOptions } from './monitors/crawl-monitors.ts'
export { ExamplePages } from './monitors/example-pages.ts'
export { readMonitors } from './monitors/read-monitors.ts'
export { mailOf } from './notifications/mail.ts'
export { type NotificationChannel, NotificationRefused } from './notifications/notification.ts'
export { OwnLines } from './notifications/own-lines.ts'
export {
  type ChannelAnswer,
  sendTestMessage,
  sendToEach,
  type TestMessage,
} from './notifications/test-message.ts'
export { signature, Webhook, type WebhookOptions } from './notifications/webhook.ts'

// Items

export { FieldCoverage } from './items/field-coverage.ts'
export { type CheckedItem, InvalidItem, item } from './items/item.ts'
export {
  ItemLoader,
  type ItemLoaderOptions,
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
  type LoaderContext,
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

// Feeds

export {
  checkFeeds,
  type FeedStorage,
  type FeedStorages,
  feedStorages,
  feedsFrom,
  type ItemExporter,
  type ItemExporterClass,
  type ItemExporterOptions,
  parseOutputArgument,
} from './feeds/index.ts'

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
} from './pipelines/redis-pipeline.ts'
export { SqlPipeline, type SqlPipelineOptions } from './pipelines/sql-pipeline.ts'
export type { SqlColumn, SqlShape } from './pipelines/sql-table.ts'

// Spider middlewares

export { CallbackTimesMiddleware } from './spider-middlewares/callback-times.ts'
export { DepthMiddleware } from './spider-middlewares/depth.ts'
export { HttpError, HttpErrorMiddleware } from './spider-middlewares/http-error.ts'
export { PageBudgetsMiddleware, type PageBudgetsOptions } from './spider-middlewares/page-budgets.ts'
export { PathTrapsMiddleware } from './spider-middlewares/path-traps.ts'
export { QueueTimesMiddleware, type QueueTimesOptions } from './spider-middlewares/queue-times.ts'
export { RefererMiddleware } from './spider-middlewares/referer.ts'
export { type TracesApi, TracesMiddleware, type TracesOptions } from './spider-middlewares/traces.ts'
export { TrapChainsMiddleware } from './spider-middlewares/trap-chains.ts'
export { UrlLengthMiddleware } from './spider-middlewares/url-length.ts'

// Extensions

export { CloseSpiderExtension, type CrawlLimit, limitReached } from './extensions/close-spider.ts'
export { CoreStats } from './extensions/core-stats.ts'
export { LogStats } from './extensions/log-stats.ts'
export { MemoryUsage } from './extensions/memory-usage.ts'

// The crawl

export {
  Engine,
  type EngineActivity,
  type EngineBounds,
  type EngineOptions,
} from './engine/engine.ts'
export type { EngineDownloader, EngineScheduler } from './engine/engine-ports.ts'
export { FormFetcher, type FormFetcherOptions } from './page-forms/form-fetcher.ts'
export { type GoneHost, GonePages, type GonePagesOptions } from './recrawl/gone-pages.ts'
export { PageVisits, type PageVisitsOptions } from './recrawl/page-visits.ts'
export { RevisitingDownloader } from './recrawl/revisiting-downloader.ts'
export { RevisitingScraper } from './recrawl/revisiting-scraper.ts'
export { type PageBounds, pageBoundsOf } from './responses/page-bounds.ts'
export { callbackName } from './scraping/callbacks.ts'
export { inTime } from './scraping/in-time.ts'
export { ItemProcessor, type ItemProcessorOptions } from './scraping/item-processor.ts'
export { isLostPage } from './scraping/lost-page.ts'
export { Scraper, type ScraperOptions } from './scraping/scraper.ts'
