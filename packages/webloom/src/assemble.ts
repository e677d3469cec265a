/**
 * Puts a crawl together. Concrete classes are named here and in the files beside it that say so: everywhere else there are
 * only ports.
 */

import {
  type Crawler,
  fingerprinterOf,
  type ItemPipeline,
  type Logger,
  MemoryStatsCollector,
  type Request,
  type ResponseInit,
  Settings,
  type SettingsLayers,
  type SettingsPlaces,
  Signals,
  type StatsCollector,
} from '@webloom/core'
import { Downloader, HttpDownloadHandler } from '@webloom/downloader'
import { Scheduler } from '@webloom/scheduler'
import {
  createSpider,
  Engine,
  feedsFrom,
  ItemProcessor,
  isRedisSpider,
  Response,
  Scraper,
  Spider,
  type SpiderClass,
  seedOptionsOf,
} from '@webloom/spider'
import { DOWNLOADER_MIDDLEWARES, EXTENSIONS, SPIDER_MIDDLEWARES } from './builtin-components.ts'
import { cookies, redisPipeline, robotsTxt } from './connected-components.ts'
import { Crawl } from './crawl.ts'
import { type CrawlControls, crawlStore, type Participation } from './crawl-store.ts'
import { withLoadedFunctions } from './loading/component-class.ts'
import { placedComponents } from './loading/placed-components.ts'
import { RedisServers } from './redis-servers.ts'

export interface AssembleOptions {
  readonly args?: Readonly<Record<string, string>>
  readonly layers?: Omit<SettingsLayers, 'spider'>
  /** How messages call the layers, e.g. the path of the config file. */
  readonly places?: SettingsPlaces
  /** Folder from which `./file.ts#Export` in settings is meant. */
  readonly folder: string
  /** How it takes part in a crawl on Redis. Absent: it may begin one, and other workers may join. */
  readonly part?: Participation
  /** RedisSpiders stay, others end; `--stay`. */
  readonly stays?: boolean
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
  let engine: Engine | undefined
  const controls: CrawlControls = {
    activity: () => engine?.activity ?? { downloading: 0, scraping: 0 },
    pause: () => engine?.pause(),
    resume: () => engine?.resume(),
    stop: (reason) => engine?.stop(reason),
  }
  const createResponse = responseFactory(settings)
  const base: Crawler = { settings, stats, signals, logger, spider, createResponse, close: controls.stop }
  const { folder, part = { begins: true, isWorker: false } } = options
  const servers = new RedisServers(settings, logger)
  const store = await crawlStore(base, { spider, folder, part, controls, servers })
  const crawler: Crawler = store.others ? { ...base, others: store.others } : base
  Spider.attach(spider, { crawler, logger: logger.child({ spider: spider.name }) })

  const extensions = await placedComponents('EXTENSIONS', EXTENSIONS, crawler, folder)
  const http = HttpDownloadHandler.fromCrawler(crawler, createResponse)
  // The middlewares need the downloader, and it is made of them.
  const optionsOf = (request: Request) => downloader.optionsOf(request)
  const robots = robotsTxt(servers, {
    download: (request, given) => http.download(request, given),
    onStart: (request) => optionsOf(request)?.onStart(),
    onCrawlDelay: (request, seconds) => optionsOf(request)?.onHostNews?.({ delayMs: seconds * 1000 }),
  })
  const downloader: Downloader = Downloader.fromCrawler(crawler, {
    handlers: { http, https: http },
    middlewares: await placedComponents(
      'DOWNLOADER_MIDDLEWARES',
      [...DOWNLOADER_MIDDLEWARES, cookies(servers), robots],
      crawler,
      folder,
    ),
  })
  const scheduler = Scheduler.fromCrawler(crawler, {
    filter: store.filter,
    queue: store.queue,
    fingerprinter: fingerprinterOf(settings, 'scrapy'),
    emptyOnOpen: store.emptyOnOpen,
    emptyOnClose: store.emptyOnClose,
    isNearlyFull: store.isNearlyFull,
  })
  const scraper = new Scraper({
    spider,
    middlewares: await placedComponents('SPIDER_MIDDLEWARES', SPIDER_MIDDLEWARES, crawler, folder),
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
    record: store.record,
  })
  const pipelines = await placedComponents<ItemPipeline>(
    'ITEM_PIPELINES',
    [redisPipeline(servers)],
    crawler,
    folder,
  )
  const items = new ItemProcessor({
    pipelines,
    feeds,
    concurrency: settings.getInt('CONCURRENT_ITEMS'),
    dropLogLevel: settings.getString('DEFAULT_DROPITEM_LOG_LEVEL'),
    spider,
    stats,
    signals,
    logger,
  })
  engine = new Engine({
    spider,
    scheduler,
    record: store.record,
    downloader,
    scraper,
    items,
    ...(store.seeds && { seeds: store.seeds }),
    stats,
    signals,
    logger,
    downloadsMax: settings.getInt('CONCURRENT_REQUESTS'),
    scrapingBytesMax: settings.getInt('SCRAPER_SLOT_MAX_ACTIVE_SIZE'),
    startLowWater: settings.getInt('START_LOW_WATER'),
    idleMsBeforeFinish: idleMsBeforeFinish(spider, settings, options.stays),
    componentTimeoutMs: settings.getFloat('COMPONENT_TIMEOUT') * 1000,
    shutdownGraceMs: settings.getFloat('SHUTDOWN_GRACE') * 1000,
  })

  return new Crawl({
    engine,
    spider,
    settings,
    stats,
    logger,
    scheduler,
    store,
    outputs: [...feeds.map(({ uri }) => uri), ...pipelines.map(({ name }) => `pipeline ${name}`)],
    extensions: extensions.map(({ component }) => component),
  })
}

function responseFactory(settings: Settings): (url: string, init: ResponseInit) => Response {
  const htmlParser = settings.get('HTML_PARSER')
  return (url, init) => new Response(url, { ...init, htmlParser })
}

/** How long there must be nothing to do before a crawl ends, milliseconds; Infinity for one that stays. */
function idleMsBeforeFinish(spider: Spider, settings: Settings, stays = isRedisSpider(spider)): number {
  if (!stays) return settings.getFloat('SCHEDULER_IDLE_BEFORE_CLOSE') * 1000
  const maxIdleMs = isRedisSpider(spider)
    ? seedOptionsOf(spider, settings).maxIdleTimeMs
    : settings.getFloat('MAX_IDLE_TIME_BEFORE_CLOSE') * 1000
  return maxIdleMs > 0 ? maxIdleMs : Number.POSITIVE_INFINITY
}
