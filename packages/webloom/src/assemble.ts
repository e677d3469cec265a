/**
 * Puts a crawl together. This is the one file that names concrete classes: everywhere else there are only ports.
 */

import {
  buildComponents,
  type Component,
  type ComponentClass,
  type ComponentEntry,
  type Crawler,
  completeDupeFilter,
  type DownloaderMiddleware,
  type DupeFilter,
  type Extension,
  fingerprinterOf,
  fromCrawler,
  type ItemPipeline,
  type Logger,
  MemoryStatsCollector,
  type Placed,
  type RedisTarget,
  type ResponseInit,
  redisTargets,
  Settings,
  SettingsError,
  type SettingsLayers,
  type SettingsPlaces,
  Signals,
  type SimpleDupeFilter,
  type SpiderMiddleware,
  type StatsCollector,
} from '@webloom/core'
import {
  DefaultHeadersMiddleware,
  Downloader,
  DownloaderStatsMiddleware,
  DownloadTimeoutMiddleware,
  HttpCompressionMiddleware,
  HttpDownloadHandler,
  OffsiteMiddleware,
  RedirectMiddleware,
  RequestCookiesMiddleware,
  RetryMiddleware,
  UserAgentMiddleware,
} from '@webloom/downloader'
import { MemoryDupeFilter, redisBloomFromCrawler, redisSetFromCrawler } from '@webloom/dupefilter'
import { JobDir, MemoryCrawlRecord, MemoryRequestQueue } from '@webloom/queue'
import { Scheduler } from '@webloom/scheduler'
import {
  CloseSpiderExtension,
  CoreStats,
  createSpider,
  DepthMiddleware,
  Engine,
  feedsFrom,
  HttpErrorMiddleware,
  ItemProcessor,
  LogStats,
  MemoryUsage,
  Response,
  Scraper,
  Spider,
  type SpiderClass,
  UrlLengthMiddleware,
} from '@webloom/spider'
import { Crawl } from './crawl.ts'
import { loadComponent } from './loading/component-reference.ts'
import { RedisLink } from './redis-connection.ts'

/** A built-in component: its short name, Scrapy's import path for it, and its place. */
interface Builtin<T> extends Placed<T> {
  readonly scrapy?: string
}

const DOWNLOADER_MIDDLEWARES: readonly Builtin<DownloaderMiddleware>[] = [
  {
    name: 'offsite',
    order: 50,
    Class: OffsiteMiddleware,
    scrapy: 'scrapy.downloadermiddlewares.offsite.OffsiteMiddleware',
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
  { name: 'request-cookies', order: 700, Class: RequestCookiesMiddleware },
  {
    name: 'downloader-stats',
    order: 850,
    Class: DownloaderStatsMiddleware,
    scrapy: 'scrapy.downloadermiddlewares.stats.DownloaderStats',
  },
]

const SPIDER_MIDDLEWARES: readonly Builtin<SpiderMiddleware>[] = [
  {
    name: 'http-error',
    order: 50,
    Class: HttpErrorMiddleware,
    scrapy: 'scrapy.spidermiddlewares.httperror.HttpErrorMiddleware',
  },
  {
    name: 'url-length',
    order: 800,
    Class: UrlLengthMiddleware,
    scrapy: 'scrapy.spidermiddlewares.urllength.UrlLengthMiddleware',
  },
  {
    name: 'depth',
    order: 900,
    Class: DepthMiddleware,
    scrapy: 'scrapy.spidermiddlewares.depth.DepthMiddleware',
  },
]

const EXTENSIONS: readonly Builtin<Extension>[] = [
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

const DUPEFILTERS: Readonly<Record<string, ComponentClass<DupeFilter>>> = { memory: MemoryDupeFilter }

const REDIS_DUPEFILTERS = { 'redis-set': redisSetFromCrawler, 'redis-bloom': redisBloomFromCrawler }

export interface AssembleOptions {
  readonly args?: Readonly<Record<string, string>>
  readonly layers?: Omit<SettingsLayers, 'spider'>
  /** How messages call the layers, e.g. the path of the config file. */
  readonly places?: SettingsPlaces
  /** Folder from which `./file.ts#Export` in settings is meant. */
  readonly folder: string
  /** Made once the settings are known, as they say where lines go and which. */
  readonly createLogger: (settings: Settings, stats: StatsCollector) => Logger
}

/** A crawl of that spider, ready to run. Throws `SettingsError` with every problem, before anything is opened. */
export async function assemble(Class: SpiderClass, options: AssembleOptions): Promise<Crawl> {
  const spider = createSpider(Class, options.args)
  const layers = { ...options.layers, spider: spider.customSettings ?? {} }
  const written = Settings.fromLayers(layers, {
    spider: `customSettings of ${spider.name}`,
    ...options.places,
  })
  written.validate()
  const settings = await withLoadedFunctions(written, options.folder)

  const stats = new MemoryStatsCollector()
  const logger = options.createLogger(settings, stats)
  for (const warning of settings.warnings()) logger.warn(warning)
  const signals = new Signals((signal, error) =>
    logger.error({ signal, err: error }, 'a signal handler threw; the others were called'),
  )
  // The engine needs the components, and they need a way to end the crawl.
  let close: (reason: string) => void = () => {}
  const crawler: Crawler = { settings, stats, signals, logger, spider, close: (reason) => close(reason) }
  Spider.attach(spider, { crawler, logger: logger.child({ spider: spider.name }) })

  const placed = async <T>(
    setting: 'DOWNLOADER_MIDDLEWARES' | 'SPIDER_MIDDLEWARES' | 'EXTENSIONS' | 'ITEM_PIPELINES',
    base: readonly Builtin<T>[],
  ) => buildComponents(await merged(setting, base, settings.get(setting), options.folder), crawler)

  const extensions = await placed('EXTENSIONS', EXTENSIONS)
  const createResponse = responseFactory(settings)
  const http = HttpDownloadHandler.fromCrawler(crawler, createResponse)
  const downloader = Downloader.fromCrawler(crawler, {
    handlers: { http, https: http },
    middlewares: await placed('DOWNLOADER_MIDDLEWARES', DOWNLOADER_MIDDLEWARES),
  })
  const jobDir = JobDir.fromCrawler(crawler)
  const { filter, link } = await dupefilter(crawler, jobDir, options.folder)
  const queue = jobDir?.queue ?? MemoryRequestQueue.fromCrawler(crawler)
  const record = jobDir?.record ?? new MemoryCrawlRecord()
  const scheduler = Scheduler.fromCrawler(crawler, {
    filter,
    queue,
    fingerprinter: fingerprinterOf(settings, 'scrapy'),
    // What is in memory or in a JOBDIR goes or stays by itself.
    clearOnOpen: link !== undefined && settings.getBool('SCHEDULER_FLUSH_ON_START'),
    clearsOnClose: async () => link !== undefined && !settings.getBool('SCHEDULER_PERSIST'),
  })
  const scraper = new Scraper({
    spider,
    middlewares: await placed('SPIDER_MIDDLEWARES', SPIDER_MIDDLEWARES),
    admits: (request) => downloader.admits(request),
    outputMax: settings.getInt('CALLBACK_OUTPUT_MAX'),
    stats,
    signals,
    logger,
  })
  const feeds = feedsFrom(settings, {
    spiderName: spider.name,
    startedAt: new Date(),
    logger,
    stats,
    ...(jobDir && { record }),
  })
  const items = new ItemProcessor({
    pipelines: await placed<ItemPipeline>('ITEM_PIPELINES', []),
    feeds,
    concurrency: settings.getInt('CONCURRENT_ITEMS'),
    dropLogLevel: settings.getString('DEFAULT_DROPITEM_LOG_LEVEL'),
    spider,
    stats,
    signals,
    logger,
  })
  const engine = new Engine({
    spider,
    scheduler,
    record,
    downloader,
    scraper,
    items,
    stats,
    signals,
    logger,
    downloadsMax: settings.getInt('CONCURRENT_REQUESTS'),
    scrapingBytesMax: settings.getInt('SCRAPER_SLOT_MAX_ACTIVE_SIZE'),
    startLowWater: settings.getInt('START_LOW_WATER'),
    idleMsBeforeFinish: settings.getFloat('SCHEDULER_IDLE_BEFORE_CLOSE') * 1000,
    componentTimeoutMs: settings.getFloat('COMPONENT_TIMEOUT') * 1000,
    shutdownGraceMs: settings.getFloat('SHUTDOWN_GRACE') * 1000,
  })
  close = (reason) => engine.stop(reason)

  return new Crawl({
    engine,
    spider,
    settings,
    stats,
    logger,
    record,
    scheduler,
    ...(link && { link }),
    describe: async () => ({
      queue: queue.describe(),
      filter: await filter.describe(),
      outputs: feeds.map(({ uri }) => uri),
    }),
    extensions: extensions.map(({ component }) => component),
  })
}

function responseFactory(settings: Settings): (url: string, init: ResponseInit) => Response {
  const htmlParser = settings.get('HTML_PARSER')
  return (url, init) => new Response(url, { ...init, htmlParser })
}

/** The filter, and the connection it needs, which the crawl opens and closes. */
interface ChosenFilter {
  readonly filter: DupeFilter
  readonly link?: RedisLink
}

/** With a JOBDIR `memory` means its filter, as Scrapy's RFPDupeFilter keeps its set there; one of the user's own is kept. */
async function dupefilter(crawler: Crawler, jobDir: JobDir | null, folder: string): Promise<ChosenFilter> {
  const { settings } = crawler
  const [target, ...others] = redisTargets(settings, 'dupefilter')
  const chosen = settings.get('DUPEFILTER_CLASS') ?? (target && !jobDir ? 'redis-set' : 'memory')
  if (jobDir && chosen === 'memory') return { filter: jobDir.filter }
  if (chosen === 'redis-set' || chosen === 'redis-bloom') {
    if (jobDir)
      throw new SettingsError([
        `DUPEFILTER_CLASS is ${chosen}, and JOBDIR is set: a JOBDIR keeps the requests met with its queue, in one transaction. Unset one of them`,
      ])
    if (!target)
      throw new SettingsError([
        `DUPEFILTER_CLASS is ${chosen}, but no Redis is named. Set REDIS_URL=redis://host:6379, or DUPEFILTER_REDIS_URL`,
      ])
    if (others.length > 0)
      throw new SettingsError([
        `DUPEFILTER_REDIS_URL names ${others.length + 1} servers; this release uses one`,
      ])
    return redisDupefilter(crawler, chosen, target)
  }
  const Class = typeof chosen === 'string' ? DUPEFILTERS[chosen] : undefined
  if (Class) return { filter: fromCrawler(Class, crawler) }
  const builtins = [...Object.keys(DUPEFILTERS), ...Object.keys(REDIS_DUPEFILTERS)]
  const Own = await classOf<SimpleDupeFilter>('DUPEFILTER_CLASS', chosen, builtins, folder)
  return { filter: completeDupeFilter(fromCrawler(Own, crawler)) }
}

function redisDupefilter(
  crawler: Crawler,
  chosen: keyof typeof REDIS_DUPEFILTERS,
  target: RedisTarget,
): ChosenFilter {
  const { settings, logger } = crawler
  const link = new RedisLink(target, {
    startTimeoutMs: settings.getFloat('REDIS_START_TIMEOUT') * 1000,
    logger,
  })
  return { filter: REDIS_DUPEFILTERS[chosen](crawler, link.client), link }
}

/** The base with what a setting adds, moves and disables. */
async function merged<T>(
  setting: string,
  base: readonly Builtin<T>[],
  entries: readonly ComponentEntry[],
  folder: string,
): Promise<Placed<T>[]> {
  const placed = new Map<unknown, Placed<T>>(base.map((builtin) => [builtin.name, builtin]))
  const problems: string[] = []
  for (const [component, order] of entries) {
    const builtin = base.find(
      ({ name, scrapy, Class }) => component === name || component === scrapy || component === Class,
    )
    const key = builtin?.name ?? component
    if (order === null) placed.delete(key)
    else if (builtin) placed.set(key, { ...builtin, order })
    else {
      try {
        const Class = await classOf<T>(
          setting,
          component,
          base.map(({ name }) => name),
          folder,
        )
        placed.set(key, { name: typeof component === 'string' ? component : Class.name, order, Class })
      } catch (error) {
        problems.push(...(error instanceof SettingsError ? error.problems : [(error as Error).message]))
      }
    }
  }
  if (problems.length > 0) throw new SettingsError(problems)
  return [...placed.values()]
}

async function classOf<T>(
  setting: string,
  component: Component,
  builtins: readonly string[],
  folder: string,
): Promise<ComponentClass<T>> {
  const value: unknown =
    typeof component === 'string' && component.includes('#')
      ? await loadComponent(component, { folder, setting })
      : component
  if (typeof value === 'function') return value as ComponentClass<T>
  const known = builtins.length > 0 ? ` a built-in name (${builtins.join(', ')}),` : ''
  throw new SettingsError([
    `${setting} names ${JSON.stringify(component)}; expected${known} ./file.ts#Export or a class`,
  ])
}

/** FINGERPRINTER may name a function in a file: it is loaded once, here. */
async function withLoadedFunctions(settings: Settings, folder: string): Promise<Settings> {
  const fingerprinter = settings.get('FINGERPRINTER')
  if (typeof fingerprinter !== 'string' || !fingerprinter.includes('#')) return settings
  const layer = settings.source('FINGERPRINTER')
  if (layer === undefined || layer === 'default') return settings
  return settings.with(layer, {
    FINGERPRINTER: await loadComponent(fingerprinter, { folder, setting: 'FINGERPRINTER' }),
  })
}
