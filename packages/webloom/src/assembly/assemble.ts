/**
 * Puts a crawl together. Concrete classes are named here and in the files beside it that say so: everywhere else there are
 * only ports.
 */

import {
  type Crawler,
  fingerprinterOf,
  HOST_LIST_MAX,
  HostListSources,
  type ItemPipeline,
  type ProtocolTimes,
  type Settings,
  type StatsCollector,
  UrlMemory,
} from '@webloom/core'
import { HostAddresses, unansweredHosts } from '@webloom/downloader'
import { Scheduler, type SchedulerParts } from '@webloom/scheduler'
import {
  DeclaredStartHosts,
  Engine,
  type EngineBounds,
  type EngineOptions,
  ExamplePages,
  FieldCoverage,
  FormFetcher,
  feedStorages,
  feedsFrom,
  ItemProcessor,
  type ItemProcessorOptions,
  isLostPage,
  isRedisSpider,
  type Monitors,
  readMonitors,
  Spider,
  type SpiderClass,
  seedOptionsOf,
} from '@webloom/spider'
import { inOneError, placedComponents } from '../loading/placed-components.ts'
import { comparesRuns, crawlMonitors } from '../outcome/crawl-monitors.ts'
import { closeExtension, closeUnused, ToClose } from '../outcome/to-close.ts'
import { RedisServers } from '../redis/redis-servers.ts'
import { typedCrawl } from '../redis/typed-crawl.ts'
import { EXTENSIONS, ITEM_PIPELINES } from './builtin-components.ts'
import { Crawl } from './crawl.ts'
import { type CrawlBaseOptions, crawlBase } from './crawl-base.ts'
import { crawlStore } from './crawl-store.ts'
import { besidesPages, pageFetching, responseFactory } from './fetching.ts'
import { refuseVisitedPages } from './recrawl/recrawl-refusals.ts'
import { recrawling } from './recrawl/recrawling.ts'
import type { CrawlControls, Participation } from './store-port.ts'
import { lineFields, newWorkerId } from './worker-id.ts'

export interface AssembleOptions extends CrawlBaseOptions {
  /** How it takes part in a crawl on Redis. Absent: it may begin one, and other workers may join. */
  readonly part?: Participation
  /** RedisSpiders stay, others end; `--stay`. */
  readonly stays?: boolean
  /** For tests that must see leases run out by the thousand: `scaledTimes`. No setting, as its parts depend on each other. */
  readonly times?: ProtocolTimes
}

/**
 * A crawl of that spider, ready to run. Throws `SettingsError` with every problem, before anything is opened, and closes the components that are
 * made by then.
 */
export async function assemble(Class: SpiderClass, options: AssembleOptions): Promise<Crawl> {
  const { spider, settings, stats, signals, ...made } = await crawlBase(Class, options)
  await using toClose = new ToClose()
  const workerId = newWorkerId()
  const logger = made.logger.child(lineFields(spider.name, settings, workerId))
  for (const warning of settings.warnings()) logger.warn(warning)
  // The engine needs the components, and they need a way to end the crawl.
  let engine: Engine | undefined
  const controls: CrawlControls = {
    activity: () => engine?.activity ?? { downloading: 0, scraping: 0, scrapingFull: false, stalled: false },
    pause: () => engine?.pause(),
    resume: () => engine?.resume(),
    stop: (reason) => engine?.stop(reason),
    fail: (error, isTold) => engine?.fail(error, isTold),
  }
  const monitors = readMonitors(spider, settings)
  const urls = new UrlMemory()
  const createResponse = responseFactory({ settings, stats, logger }, urls)
  const times = options.times && { times: options.times }
  const { folder, project, part = { begins: true, isWorker: false } } = options
  const servers = new RedisServers(settings, logger, { spider: spider.name, times: options.times })
  servers.onHopeless(controls.fail)
  toClose.add(() => servers.close())
  const addresses = HostAddresses.fromCrawler({ settings })
  toClose.add(() => addresses.close())
  const hostLists = new HostListSources()
  const base: Crawler = {
    settings,
    stats,
    signals,
    logger,
    spider,
    redis: servers.redis,
    createResponse,
    addresses,
    hostLists,
    ...times,
    close: controls.stop,
  }
  const resolve = (hostname: string) => addresses.of(hostname)
  const store = await crawlStore(base, {
    spider,
    folder,
    project,
    comparesRuns: comparesRuns(monitors),
    part,
    controls,
    servers,
    resolve,
    workerId,
  })
  toClose.add(() => store.disconnect())
  const { others } = store
  hostLists.add(() => ({ mostQueued: store.queue.mostQueued(HOST_LIST_MAX) }))
  const startHosts = new DeclaredStartHosts(spider, store.startHosts)
  const pages = pageFetching(base, { slots: store.slots, urls, folder })
  const crawler: Crawler = {
    ...base,
    typed: typedCrawl(spider, base.settings),
    startHosts,
    ...(others && { others }),
    ...(store.run && { run: store.run }),
    budgetBook: (limits, terms) => store.budgetBook(limits, terms),
    fetch: pages.fetch,
  }
  Spider.attach(spider, { crawler, logger })

  const recrawl = recrawling(crawler, {
    spider,
    monitors,
    queue: store.queue,
    isOnRedis: store.others !== undefined,
    ends: endsByItself(spider, settings, options.stays),
    onGone: (page) => items.gone(page),
  })
  const [extensions, { downloader, scraper }, pipelines] = await inOneError(
    async () => {
      const made = await placedComponents('EXTENSIONS', EXTENSIONS, crawler, folder)
      for (const { component } of made) toClose.add(() => closeExtension(component, { settings, logger }))
      return made
    },
    async () => {
      const made = await pages.open(crawler, spider, recrawl?.pages)
      toClose.add(() => closeUnused(made.downloader, { settings, logger }))
      return made
    },
    () => placedComponents<ItemPipeline>('ITEM_PIPELINES', ITEM_PIPELINES, crawler, folder),
  )
  const parts: SchedulerParts = {
    filter: store.filter,
    queue: store.queue,
    endsDoubtsAtOnce: store.isInProcess,
    fingerprinter: fingerprinterOf(settings, 'scrapy'),
    onOpen: async (signal) => {
      if (!recrawl) await refuseVisitedPages(store, crawler)
      await store.onOpen(signal)
    },
    onClose: store.onClose,
    isNearlyFull: store.isNearlyFull,
  }
  const scheduler = recrawl?.scheduler(parts) ?? Scheduler.fromCrawler(crawler, parts)
  const feeds = feedsFrom(settings, {
    spiderName: spider.name,
    spider,
    startedAt: new Date(),
    worker: store.workerId,
    isWorker: part.isWorker,
    storages: feedStorages(crawler),
    logger,
    stats,
    ...(store.outlivesRun && { record: store.record }),
  })
  const counted = coverageOf(settings, stats, monitors)
  const items = new ItemProcessor({
    pipelines,
    feeds,
    concurrency: settings.getInt('CONCURRENT_ITEMS'),
    idField: settings.get('ITEM_ID_FIELD'),
    dropLogLevel: settings.getString('DEFAULT_DROPITEM_LOG_LEVEL'),
    timeoutMs: settings.getMs('COMPONENT_TIMEOUT'),
    ...counted,
    spider,
    stats,
    signals,
    logger,
  })
  engine = new Engine({
    spider,
    scheduler,
    record: store.record,
    downloader: recrawl?.downloader(downloader) ?? downloader,
    scraper,
    items,
    forms: new FormFetcher({ forms: store.pageForms, scraper, stats, signals, logger }),
    startHosts,
    othersAreHungry: () => store.queue.othersAreHungry === true,
    ...(store.seeds && { seeds: store.seeds }),
    stats,
    signals,
    logger,
    bounds: engineBounds(spider, settings, options.stays),
    ...forgetting(settings),
    onClosing: () => servers.hurryComponents(),
    ...times,
  })
  hostLists.add(() => ({ unanswered: unansweredHosts(engine.placesUnderWay, performance.now()) }))

  const judging =
    monitors &&
    (await crawlMonitors(base, {
      monitors,
      runLog: store.runLog,
      worker: store.workerId,
      folder,
      connect: () => besidesPages(base),
      isPaused: () => engine.isPaused,
      onFields: (fields) => counted.watched?.watch(fields),
    }))
  if (judging) toClose.add(() => judging.close())
  return new Crawl({
    engine,
    spider,
    settings,
    stats,
    signals,
    logger,
    scheduler,
    store,
    hostLists,
    addresses,
    ...(judging && { monitors: judging }),
    outputs: [...feeds.map(({ uri }) => uri), ...pipelines.map(({ name }) => `pipeline ${name}`)],
    extensions: extensions.map(({ component }) => component),
    toClose: toClose.move(),
  })
}

/** Makes what counts items' fields (FIELD_COVERAGE_MAX), and what keeps example pages for monitors. */
function coverageOf(
  settings: Settings,
  stats: StatsCollector,
  monitors: Monitors = {},
): Pick<ItemProcessorOptions, 'coverage'> & { readonly watched?: ExamplePages } {
  const fieldsMax = settings.getInt('FIELD_COVERAGE_MAX')
  const fields = Object.keys(monitors.coverage ?? {})
  return {
    ...(fieldsMax + fields.length > 0 && { coverage: new FieldCoverage(stats, fieldsMax, fields) }),
    ...((fields.length > 0 || monitors.coverageDrop !== undefined) && {
      watched: new ExamplePages(stats, fields),
    }),
  }
}

/** Returns which failures make the dupefilter forget a page (DUPEFILTER_RELEASE_ON_FAILURE). */
function forgetting(settings: Settings): Pick<EngineOptions, 'forgets'> {
  if (!settings.getBool('DUPEFILTER_RELEASE_ON_FAILURE')) return {}
  const passingStatuses = new Set(settings.getList('RETRY_HTTP_CODES').map(Number))
  return { forgets: (failure) => isLostPage(failure, passingStatuses) }
}

function engineBounds(spider: Spider, settings: Settings, stays: boolean | undefined): EngineBounds {
  return {
    downloadsMax: settings.getInt('CONCURRENT_REQUESTS'),
    scrapingBytesMax: settings.getInt('SCRAPER_SLOT_MAX_ACTIVE_SIZE'),
    startLowWater: settings.getInt('START_LOW_WATER'),
    // Pages that are due again wait for START_LOW_WATER, too, and would stand behind what is read ahead.
    startAheadMax: settings.get('RECRAWL') === 'off' ? settings.getInt('START_AHEAD_MAX') : 0,
    idleMsBeforeFinish: idleMsBeforeFinish(spider, settings, stays),
    componentTimeoutMs: settings.getMs('COMPONENT_TIMEOUT'),
    shutdownGraceMs: settings.getMs('SHUTDOWN_GRACE'),
  }
}

function endsByItself(spider: Spider, settings: Settings, stays: boolean | undefined): boolean {
  return idleMsBeforeFinish(spider, settings, stays) < Number.POSITIVE_INFINITY
}

/** How long there must be nothing to do before a crawl ends, milliseconds; Infinity for one that stays. */
function idleMsBeforeFinish(spider: Spider, settings: Settings, stays = isRedisSpider(spider)): number {
  if (!stays) return settings.getMs('SCHEDULER_IDLE_BEFORE_CLOSE')
  const maxIdleMs = isRedisSpider(spider)
    ? seedOptionsOf(spider, settings).maxIdleTimeMs
    : settings.getMs('MAX_IDLE_TIME_BEFORE_CLOSE')
  return maxIdleMs > 0 ? maxIdleMs : Number.POSITIVE_INFINITY
}
