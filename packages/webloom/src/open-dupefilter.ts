/**
 * The dupefilter that the settings name: for a crawl, and, without the rest of a crawl, for commands that look into it.
 * Beside `assemble.ts` the one file that names concrete filters.
 */

import {
  type Crawler,
  completeDupeFilter,
  type DupeFilter,
  fromCrawler,
  MemoryStatsCollector,
  type RedisTarget,
  type Request,
  redisTargets,
  Settings,
  SettingsError,
  Signals,
  type SimpleDupeFilter,
  UsageError,
} from '@webloom/core'
import {
  MemoryDupeFilter,
  type QueueRunId,
  redisBloomFromCrawler,
  redisSetFromCrawler,
} from '@webloom/dupefilter'
import { createSpider, type SpiderClass } from '@webloom/spider'
import type { AssembleOptions } from './assemble.ts'
import { componentClass, withLoadedFunctions } from './loading/component-class.ts'
import { RedisLink } from './redis-connection.ts'

const ON_REDIS = { 'redis-set': redisSetFromCrawler, 'redis-bloom': redisBloomFromCrawler }

type OnRedis = keyof typeof ON_REDIS

/** The filter, and the connection it needs, which whoever chose it opens and closes. */
export interface ChosenFilter {
  readonly filter: DupeFilter
  readonly link?: RedisLink
}

/** What a crawl has that its filter may need. */
export interface FilterSurroundings {
  /** Where `./file.ts#Export` in settings starts. */
  readonly folder: string
  /** The filter of a JOBDIR: what `memory` means there, as Scrapy's RFPDupeFilter keeps its set in it. */
  readonly jobDirFilter?: DupeFilter
  /** Where the queue is on Redis, too. */
  readonly queueRunId?: QueueRunId
}

/** Opens nothing. Throws `SettingsError` for a filter that cannot be had with these settings. */
export async function chooseDupefilter(
  crawler: Crawler,
  { folder, jobDirFilter, queueRunId }: FilterSurroundings,
): Promise<ChosenFilter> {
  const { settings } = crawler
  const chosen = chosenClass(settings, jobDirFilter !== undefined)
  if (jobDirFilter && settings.get('DUPEFILTER_DIGEST') !== 'fingerprint') {
    throw new SettingsError([
      `DUPEFILTER_DIGEST is ${settings.get('DUPEFILTER_DIGEST')}, and JOBDIR is set: a JOBDIR keeps fingerprints, which Scrapy reads and writes too (requests.seen). Unset one of them`,
    ])
  }
  if (isOnRedis(chosen)) {
    const link = linkTo(crawler, redisTarget(settings, chosen, jobDirFilter !== undefined))
    return { filter: ON_REDIS[chosen](crawler, link.client, queueRunId), link }
  }
  if (chosen === 'memory') return { filter: jobDirFilter ?? fromCrawler(MemoryDupeFilter, crawler) }
  const builtins = ['memory', ...Object.keys(ON_REDIS)]
  const Own = await componentClass<SimpleDupeFilter>('DUPEFILTER_CLASS', chosen, builtins, folder)
  return { filter: completeDupeFilter(fromCrawler(Own, crawler)) }
}

function chosenClass(settings: Settings, hasJobDir: boolean) {
  const isRedisNamed = redisTargets(settings, 'dupefilter').length > 0
  return settings.get('DUPEFILTER_CLASS') ?? (isRedisNamed && !hasJobDir ? 'redis-set' : 'memory')
}

function isOnRedis(chosen: unknown): chosen is OnRedis {
  return typeof chosen === 'string' && Object.hasOwn(ON_REDIS, chosen)
}

function redisTarget(settings: Settings, chosen: OnRedis, hasJobDir: boolean): RedisTarget {
  const [target, ...others] = redisTargets(settings, 'dupefilter')
  if (hasJobDir)
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
  return target
}

function linkTo({ settings, logger }: Crawler, target: RedisTarget): RedisLink {
  const startTimeoutMs = settings.getFloat('REDIS_START_TIMEOUT') * 1000
  return new RedisLink(target, { startTimeoutMs, logger })
}

/** A filter as commands see it. */
export interface InspectedFilter {
  readonly filter: DupeFilter & {
    /** Whether the request was met; records nothing. Absent where a filter cannot tell without recording. */
    has?(request: Request): Promise<boolean>
    memoryBytes?(): Promise<number>
  }
  /** False: nothing was ever recorded, and nothing was made by looking. */
  readonly exists: boolean
  close(): Promise<void>
}

/**
 * Opens the filter of a spider's crawl, and nothing else of it.
 *
 * @param makes whether a filter that is not there is to be made
 */
export async function openDupefilter(
  Class: SpiderClass,
  options: AssembleOptions,
  { makes }: { makes: boolean },
): Promise<InspectedFilter> {
  const crawler = await crawlerOf(Class, options)
  refuseInvisible(crawler.settings)
  const { filter, link } = await chooseDupefilter(crawler, options)
  const close = async () => {
    await filter.close()
    link?.close()
  }
  try {
    await link?.open()
    const exists = makes || !('exists' in filter) || (await (filter as StoredFilter).exists())
    if (exists) await filter.open()
    return { filter, exists, close }
  } catch (error) {
    link?.close()
    throw error
  }
}

type StoredFilter = DupeFilter & { exists(): Promise<boolean> }

/** As much of a crawl as its filter needs. */
async function crawlerOf(Class: SpiderClass, options: AssembleOptions): Promise<Crawler> {
  const spider = createSpider(Class, options.args)
  const written = Settings.fromLayers(
    { ...options.layers, spider: spider.customSettings ?? {} },
    { spider: `customSettings of ${spider.name}`, ...options.places },
  )
  written.validate()
  const settings = await withLoadedFunctions(written, options.folder)
  const stats = new MemoryStatsCollector()
  const logger = options.createLogger(settings, stats)
  return { settings, stats, signals: new Signals(() => {}), logger, spider, close() {} }
}

function refuseInvisible(settings: Settings): void {
  const jobDir = settings.get('JOBDIR')
  if (jobDir !== null && jobDir !== '') {
    throw new UsageError(
      'WL_USAGE',
      `JOBDIR is ${JSON.stringify(jobDir)}: the requests met are kept there, and only the crawl itself opens it. Their fingerprints are in ${jobDir}/requests.seen, a line each`,
    )
  }
  if (chosenClass(settings, false) === 'memory') {
    throw new UsageError(
      'WL_USAGE',
      'the dupefilter is `memory`: it lives and ends with the process that crawls, and there is nothing to look at from outside. With REDIS_URL set, requests met are kept on Redis (DUPEFILTER_CLASS=redis-set or redis-bloom)',
    )
  }
}
