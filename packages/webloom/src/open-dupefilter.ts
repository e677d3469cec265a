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
  countingBloomFromCrawler,
  type FilterPlace,
  MemoryCountingBloomDupeFilter,
  MemoryDupeFilter,
  memoryBloomFromCrawler,
  NoDupeFilter,
  type QueueRunId,
  redisBloomFromCrawler,
  redisKeyFromCrawler,
  redisSetFromCrawler,
  ShardedDupeFilter,
  type ShardPart,
  splittableBloomFromCrawler,
} from '@webloom/dupefilter'
import { createSpider, type SpiderClass } from '@webloom/spider'
import type { AssembleOptions } from './assemble.ts'
import { componentClass, withLoadedFunctions } from './loading/component-class.ts'
import { RedisLink } from './redis-connection.ts'

const ON_REDIS = {
  'redis-set': redisSetFromCrawler,
  'redis-key': redisKeyFromCrawler,
  'redis-bloom': redisBloomFromCrawler,
  'counting-bloom': countingBloomFromCrawler,
  'splittable-bloom': splittableBloomFromCrawler,
}

const IN_PROCESS = {
  memory: (crawler: Crawler) => fromCrawler(MemoryDupeFilter, crawler),
  'memory-bloom': memoryBloomFromCrawler,
  // Where no Redis is named.
  'counting-bloom': (crawler: Crawler) => fromCrawler(MemoryCountingBloomDupeFilter, crawler),
}

/** For DUPEFILTER_RELEASE_ON_FAILURE. */
const FORGETTING = 'memory, redis-set, redis-key, counting-bloom'

/** The filter, and the connections it needs, which whoever chose it opens and closes. */
export interface ChosenFilter {
  readonly filter: DupeFilter
  /** None for a filter in this process; several for one that is spread over servers. */
  readonly links: readonly RedisLink[]
}

/** What a crawl has that its filter may need. */
export interface FilterSurroundings {
  /** Where `./file.ts#Export` in settings starts. */
  readonly folder: string
  /** The filter of a JOBDIR: what `memory` means there, as Scrapy's RFPDupeFilter keeps its set in it. */
  readonly jobDirFilter?: DupeFilter
  /** Where the queue is on Redis, too. */
  readonly queueRunId?: QueueRunId
  /** The crawl and its run, as it tells them apart where several crawls share it. */
  readonly crawl?: () => string
}

/** Opens nothing. Throws `SettingsError` for a filter that cannot be had with these settings. */
export async function chooseDupefilter(
  crawler: Crawler,
  surroundings: FilterSurroundings,
): Promise<ChosenFilter> {
  const { settings, logger } = crawler
  const chosen = await chosenFilter(crawler, surroundings)
  if (settings.getBool('DUPEFILTER_RELEASE_ON_FAILURE') && !chosen.filter.forget)
    throw new SettingsError([
      `DUPEFILTER_RELEASE_ON_FAILURE is true, and ${shownFilter(settings, surroundings)} cannot forget a request. These can: ${FORGETTING}, or a filter of your own that has forget()`,
    ])
  if (settings.get('DUPEFILTER_TTL') !== null && settings.get('DUPEFILTER_CLASS') !== 'redis-key')
    logger.warn(`DUPEFILTER_TTL has no effect: only redis-key keeps requests for a while (DUPEFILTER_CLASS)`)
  return chosen
}

async function chosenFilter(
  crawler: Crawler,
  { folder, jobDirFilter, ...place }: FilterSurroundings,
): Promise<ChosenFilter> {
  const { settings } = crawler
  const chosen = chosenClass(settings, jobDirFilter !== undefined)
  if (jobDirFilter) refuseBesideJobDir(settings, chosen)
  if (jobDirFilter && chosen === 'memory') return { filter: jobDirFilter, links: [] }
  if (chosen === 'none') return { filter: new NoDupeFilter(), links: [] }
  if (isOneOf(IN_PROCESS, chosen) && inProcessFilter(settings))
    return { filter: IN_PROCESS[chosen](crawler), links: [] }
  if (isOneOf(ON_REDIS, chosen)) return filterOnRedis(crawler, chosen, place)
  const builtins = [...Object.keys({ ...IN_PROCESS, ...ON_REDIS }), 'none']
  const Own = await componentClass<SimpleDupeFilter>('DUPEFILTER_CLASS', chosen, builtins, folder)
  return { filter: completeDupeFilter(fromCrawler(Own, crawler)), links: [] }
}

function filterOnRedis(crawler: Crawler, chosen: keyof typeof ON_REDIS, place: FilterPlace): ChosenFilter {
  const targets = serversOf(crawler.settings, chosen)
  const links = targets.map((target) => linkTo(crawler, target))
  const on = (link: RedisLink, shard?: ShardPart) =>
    ON_REDIS[chosen](crawler, link.client, { ...place, ...(shard && { shard }) })
  const [only, ...others] = links
  if (others.length === 0) return { filter: on(only!), links }
  const shards = links.map((link, index) => ({
    filter: on(link, { index, count: links.length }),
    server: targets[index]!.shown,
  }))
  return { filter: new ShardedDupeFilter({ shards, logger: crawler.logger }), links }
}

function chosenClass(settings: Settings, hasJobDir: boolean) {
  return settings.get('DUPEFILTER_CLASS') ?? (isRedisNamed(settings) && !hasJobDir ? 'redis-set' : 'memory')
}

/** The name of a filter that ends with the process that crawls, and that no other can ask; undefined for all others. */
export function inProcessFilter(settings: Settings): string | undefined {
  const chosen = chosenClass(settings, false)
  if (!isOneOf(IN_PROCESS, chosen)) return undefined
  return isOneOf(ON_REDIS, chosen) && isRedisNamed(settings) ? undefined : chosen
}

function isRedisNamed(settings: Settings): boolean {
  return redisTargets(settings, 'dupefilter').length > 0
}

function isOneOf<Filters extends object>(filters: Filters, chosen: unknown): chosen is keyof Filters {
  return typeof chosen === 'string' && Object.hasOwn(filters, chosen)
}

/** A JOBDIR has a filter of its own; what is kept elsewhere, or nowhere, would not go with its queue. */
function refuseBesideJobDir(settings: Settings, chosen: unknown): void {
  const digest = settings.get('DUPEFILTER_DIGEST')
  if (digest !== 'fingerprint')
    throw new SettingsError([
      `DUPEFILTER_DIGEST is ${digest}, and JOBDIR is set: a JOBDIR keeps fingerprints, which Scrapy reads and writes too (requests.seen). Unset one of them`,
    ])
  if (chosen !== 'memory' && (isOneOf(ON_REDIS, chosen) || isOneOf(IN_PROCESS, chosen)))
    throw new SettingsError([
      `DUPEFILTER_CLASS is ${chosen}, and JOBDIR is set: a JOBDIR keeps the requests met with its queue, in one transaction. Unset one of them`,
    ])
}

function shownFilter(settings: Settings, { jobDirFilter }: FilterSurroundings): string {
  const chosen = chosenClass(settings, jobDirFilter !== undefined)
  if (jobDirFilter && chosen === 'memory') return 'JOBDIR is set, whose filter'
  return `DUPEFILTER_CLASS is ${typeof chosen === 'string' ? chosen : 'a class'}, which`
}

function serversOf(settings: Settings, chosen: keyof typeof ON_REDIS): RedisTarget[] {
  const targets = redisTargets(settings, 'dupefilter')
  if (targets.length === 0)
    throw new SettingsError([
      `DUPEFILTER_CLASS is ${chosen}, but no Redis is named. Set REDIS_URL=redis://host:6379, or DUPEFILTER_REDIS_URL`,
    ])
  return targets
}

function linkTo({ settings, logger, times }: Crawler, target: RedisTarget): RedisLink {
  const startTimeoutMs = settings.getFloat('REDIS_START_TIMEOUT') * 1000
  return new RedisLink(target, { startTimeoutMs, logger, roles: ['dupefilter'], times })
}

/** A filter as commands see it. */
export interface InspectedFilter {
  readonly filter: DupeFilter & {
    /** Whether the request was met; records nothing. Absent where a filter cannot tell without recording. */
    has?(request: Request): Promise<boolean>
    memoryBytes?(): Promise<number | undefined>
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
  const { filter, links } = await chooseDupefilter(crawler, options)
  const close = async () => {
    await filter.close()
    closeAll(links)
  }
  try {
    await openAll(links)
    const exists = makes || !('exists' in filter) || (await (filter as StoredFilter).exists())
    if (exists) await filter.open()
    return { filter, exists, close }
  } catch (error) {
    closeAll(links)
    throw error
  }
}

export async function openAll(links: readonly RedisLink[]): Promise<void> {
  await Promise.all(links.map((link) => link.open()))
}

export function closeAll(links: readonly RedisLink[]): void {
  for (const link of links) link.close()
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
      `JOBDIR is ${JSON.stringify(jobDir)}: the requests met are kept there, and only the crawl itself opens it. Their fingerprints are in ${jobDir}/requests.seen`,
    )
  }
  if (settings.get('DUPEFILTER_CLASS') === 'none')
    throw new UsageError(
      'WL_USAGE',
      'DUPEFILTER_CLASS is none: nothing is remembered, so there is nothing to look at',
    )
  const inProcess = inProcessFilter(settings)
  if (inProcess !== undefined) {
    throw new UsageError(
      'WL_USAGE',
      `the dupefilter is \`${inProcess}\`: it lives and ends with the process that crawls, and there is nothing to look at from outside. With REDIS_URL set, requests met are kept on Redis (DUPEFILTER_CLASS=redis-set, redis-bloom, …)`,
    )
  }
}
