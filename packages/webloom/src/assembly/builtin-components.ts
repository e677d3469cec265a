/** The components that run in every crawl unless settings take them out, with Scrapy's orders and names. */

import type { DownloaderMiddleware, Extension, ItemPipeline, SpiderMiddleware } from '@webloom/core'
import {
  AutoThrottle,
  BinaryPageMiddleware,
  BudgetsMiddleware,
  CookieHeaderMiddleware,
  CookiesMiddleware,
  DefaultHeadersMiddleware,
  DownloaderStatsMiddleware,
  DownloadTimeoutMiddleware,
  DownloadTimesMiddleware,
  GivenUpHostsMiddleware,
  HostBackOffMiddleware,
  HttpAuthMiddleware,
  HttpCacheMiddleware,
  HttpCompressionMiddleware,
  HttpProxyMiddleware,
  MetaRefreshMiddleware,
  OffsiteMiddleware,
  RedirectMiddleware,
  RetryMiddleware,
  RobotsTxtMiddleware,
  UnreadRequestsMiddleware,
  UserAgentMiddleware,
} from '@webloom/downloader'
import {
  CallbackTimesMiddleware,
  CloseSpiderExtension,
  CoreStats,
  DepthMiddleware,
  FilesPipeline,
  HttpErrorMiddleware,
  LogStats,
  MemoryUsage,
  PageBudgetsMiddleware,
  PathTrapsMiddleware,
  QueueTimesMiddleware,
  RedisPipeline,
  RefererMiddleware,
  SqlPipeline,
  TracesMiddleware,
  TrapChainsMiddleware,
  UrlLengthMiddleware,
} from '@webloom/spider'
import type { Builtin } from '../loading/placed-components.ts'

export const DOWNLOADER_MIDDLEWARES: readonly Builtin<DownloaderMiddleware>[] = [
  {
    name: 'offsite',
    order: 50,
    Class: OffsiteMiddleware,
    scrapy: 'scrapy.downloadermiddlewares.offsite.OffsiteMiddleware',
  },
  // Those that learn of hosts and tell the queue, so that all who ask a host keep to it: given-up-hosts, autothrottle, host-backoff.
  { name: 'given-up-hosts', order: 75, Class: GivenUpHostsMiddleware },
  {
    name: 'robotstxt',
    order: 100,
    Class: RobotsTxtMiddleware,
    scrapy: 'scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware',
  },
  { name: 'autothrottle', order: 110, Class: AutoThrottle },
  {
    name: 'http-auth',
    order: 300,
    Class: HttpAuthMiddleware,
    scrapy: 'scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware',
  },
  {
    name: 'download-timeout',
    order: 350,
    Class: DownloadTimeoutMiddleware,
    scrapy: 'scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware',
  },
  {
    name: 'default-headers',
    order: 400,
    Class: DefaultHeadersMiddleware,
    scrapy: 'scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware',
  },
  {
    name: 'user-agent',
    order: 500,
    Class: UserAgentMiddleware,
    scrapy: 'scrapy.downloadermiddlewares.useragent.UserAgentMiddleware',
  },
  {
    name: 'retry',
    order: 550,
    Class: RetryMiddleware,
    scrapy: 'scrapy.downloadermiddlewares.retry.RetryMiddleware',
  },
  {
    name: 'meta-refresh',
    order: 580,
    Class: MetaRefreshMiddleware,
    scrapy: 'scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware',
  },
  { name: 'binary-page', order: 585, Class: BinaryPageMiddleware },
  {
    name: 'http-compression',
    order: 590,
    Class: HttpCompressionMiddleware,
    scrapy: 'scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware',
  },
  {
    name: 'redirect',
    order: 600,
    Class: RedirectMiddleware,
    scrapy: 'scrapy.downloadermiddlewares.redirect.RedirectMiddleware',
  },
  { name: 'cookie-header', order: 700, Class: CookieHeaderMiddleware },
  {
    name: 'cookies',
    order: 700,
    Class: CookiesMiddleware,
    scrapy: 'scrapy.downloadermiddlewares.cookies.CookiesMiddleware',
  },
  {
    name: 'http-proxy',
    order: 750,
    Class: HttpProxyMiddleware,
    scrapy: 'scrapy.downloadermiddlewares.httpproxy.HttpProxyMiddleware',
  },
  { name: 'host-backoff', order: 800, Class: HostBackOffMiddleware },
  { name: 'unread-requests', order: 825, Class: UnreadRequestsMiddleware },
  {
    name: 'downloader-stats',
    order: 850,
    Class: DownloaderStatsMiddleware,
    scrapy: 'scrapy.downloadermiddlewares.stats.DownloaderStats',
  },
  {
    name: 'http-cache',
    order: 900,
    Class: HttpCacheMiddleware,
    scrapy: 'scrapy.downloadermiddlewares.httpcache.HttpCacheMiddleware',
  },
  // Behind the cache, which asks no host.
  { name: 'budgets', order: 940, Class: BudgetsMiddleware },
  { name: 'download-times', order: 950, Class: DownloadTimesMiddleware },
]

export const SPIDER_MIDDLEWARES: readonly Builtin<SpiderMiddleware>[] = [
  {
    name: 'http-error',
    order: 50,
    Class: HttpErrorMiddleware,
    scrapy: 'scrapy.spidermiddlewares.httperror.HttpErrorMiddleware',
  },
  {
    name: 'referer',
    order: 700,
    Class: RefererMiddleware,
    scrapy: 'scrapy.spidermiddlewares.referer.RefererMiddleware',
  },
  {
    name: 'url-length',
    order: 800,
    Class: UrlLengthMiddleware,
    scrapy: 'scrapy.spidermiddlewares.urllength.UrlLengthMiddleware',
  },
  { name: 'path-traps', order: 820, Class: PathTrapsMiddleware },
  { name: 'page-budgets', order: 840, Class: PageBudgetsMiddleware },
  { name: 'trap-chains', order: 860, Class: TrapChainsMiddleware },
  {
    name: 'depth',
    order: 900,
    Class: DepthMiddleware,
    scrapy: 'scrapy.spidermiddlewares.depth.DepthMiddleware',
  },
  { name: 'callback-times', order: 950, Class: CallbackTimesMiddleware },
  { name: 'queue-times', order: 955, Class: QueueTimesMiddleware },
  { name: 'traces', order: 960, Class: TracesMiddleware },
]

export const EXTENSIONS: readonly Builtin<Extension>[] = [
  { name: 'core-stats', order: 0, Class: CoreStats, scrapy: 'scrapy.extensions.corestats.CoreStats' },
  { name: 'log-stats', order: 0, Class: LogStats, scrapy: 'scrapy.extensions.logstats.LogStats' },
  {
    name: 'close-spider',
    order: 0,
    Class: CloseSpiderExtension,
    scrapy: 'scrapy.extensions.closespider.CloseSpider',
  },
  {
    name: 'memory-usage',
    order: 0,
    Class: MemoryUsage,
    scrapy: 'scrapy.extensions.memusage.MemoryUsage',
  },
]

/** Run only where ITEM_PIPELINES names them. */
export const ITEM_PIPELINES: readonly Builtin<ItemPipeline>[] = [
  {
    name: 'files',
    order: 1,
    isDefault: false,
    Class: FilesPipeline,
    scrapy: 'scrapy.pipelines.files.FilesPipeline',
  },
  {
    name: 'redis',
    order: 300,
    isDefault: false,
    Class: RedisPipeline,
    scrapy: 'scrapy_redis.pipelines.RedisPipeline',
  },
  { name: 'sql', order: 300, isDefault: false, Class: SqlPipeline },
]
