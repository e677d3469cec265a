/**
 * The dupefilter that the settings name: for a crawl, and, without the rest of a crawl, for commands that look into it.
 */

import {
  type ComponentClass,
  type Crawler,
  completeDupeFilter,
  crawlNameOf,
  DUPEFILTER_NAMES,
  type DupeFilter,
  fromCrawler,
  redisTargets,
  type Settings,
  SettingsError,
  type SimpleDupeFilter,
  UsageError,
} from '@webloom/core'
import {
  DUPEFILTERS,
  expires,
  expiringFilters,
  filterClass,
  forgettingFilters,
  isInProcess,
  loggerOfParts,
  NoDupeFilter,
  partNumber,
  RedisDupeFilter,
  runOfParts,
  type Shard,
  ShardedDupeFilter,
} from '@webloom/dupefilter'
import { crawlRedisKeys, notedFilterOf } from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import { componentClass } from '../loading/component-class.ts'
import { type ChosenFilter, comparedNote, settingsAsNoted } from '../redis/filter-note.ts'
import { RedisServers } from '../redis/redis-servers.ts'
import { typedCrawl } from '../redis/typed-crawl.ts'
import { type CrawlBase, type CrawlBaseOptions, crawlBase } from './crawl-base.ts'
import { partless, partsAsked } from './store-settings.ts'

/** What a crawl has that its filter may need. */
export interface FilterSurroundings {
  /** Where `./file.ts#Export` in settings starts. */
  readonly folder: string
  /** For a filter that is spread over several of them. */
  readonly servers: RedisServers
  /** The filter of a JOBDIR: what `memory` means there, as Scrapy's RFPDupeFilter keeps its set in it. */
  readonly jobDirFilter?: DupeFilter
}

/** Opens nothing. Throws `SettingsError` for a filter that these settings do not allow. */
export async function chooseDupefilter(
  crawler: Crawler,
  surroundings: FilterSurroundings,
): Promise<DupeFilter> {
  return (await chosenFilter(crawler, surroundings)).filter
}

/** The same, with how it is called. */
export async function chosenFilter(
  crawler: Crawler,
  surroundings: FilterSurroundings,
): Promise<ChosenFilter> {
  const { settings, logger } = crawler
  const { servers, jobDirFilter } = surroundings
  const typed = typedCrawl(crawler.spider, settings)
  const Class = await chosenClass(settings, surroundings)
  const own = Class && madeOf(Class, { ...crawler, typed }, servers)
  const filter = own ? completeDupeFilter(own) : jobDirFilter!
  if (settings.getBool('DUPEFILTER_RELEASE_ON_FAILURE') && !filter.forget)
    throw new SettingsError([
      `DUPEFILTER_RELEASE_ON_FAILURE is true, and ${shownFilter(settings, surroundings)} cannot forget a request. These can: ${forgettingFilters()}, or a filter of your own that has forget()`,
    ])
  if (settings.get('DUPEFILTER_TTL') !== null && !(Class && expires(Class)))
    logger.warn(
      `DUPEFILTER_TTL has no effect: only ${expiringFilters()} keeps requests for a while (DUPEFILTER_CLASS)`,
    )
  if (settings.getInt('DUPEFILTER_SHARDS') > 1 && !(Class && isOnRedis(Class)) && isRedisNamed(settings))
    logger.warn('DUPEFILTER_SHARDS has no effect: only dupefilters on Redis have parts (DUPEFILTER_CLASS)')
  const chosen = chosenName(settings, jobDirFilter !== undefined)
  const isBuiltin = isBuiltinName(chosen) || chosen === 'none'
  const shown = isBuiltin ? String(chosen) : `the class ${Class?.name}`
  return { filter, isBuiltin, shown, key: keyOf(own), refuseOtherParts: () => refuseOtherParts(own) }
}

function keyOf(own: SimpleDupeFilter | undefined): string | undefined {
  if (own instanceof RedisDupeFilter) return own.part.key
  return own instanceof ShardedDupeFilter ? own.key : undefined
}

async function refuseOtherParts(own: SimpleDupeFilter | undefined): Promise<void> {
  if (own instanceof RedisDupeFilter) await own.part.refuseOther()
  if (own instanceof ShardedDupeFilter) await own.refuseOther()
}

/** Resolves to the class that the settings choose; to undefined for the JOBDIR's own filter. */
async function chosenClass(
  settings: Settings,
  { folder, jobDirFilter }: FilterSurroundings,
): Promise<ComponentClass<SimpleDupeFilter> | undefined> {
  const chosen = chosenName(settings, jobDirFilter !== undefined)
  if (jobDirFilter) refuseBesideJobDir(settings, chosen)
  if (jobDirFilter && chosen === 'memory') return undefined
  if (chosen === 'none') return NoDupeFilter
  if (!isBuiltinName(chosen)) return componentClass('DUPEFILTER_CLASS', chosen, DUPEFILTER_NAMES, folder)
  const { onRedis, inProcess } = DUPEFILTERS[chosen]
  return filterClass<SimpleDupeFilter>(
    (isBuiltinInProcess(chosen, settings) ? inProcess : onRedis)!,
    settings,
  )
}

function madeOf(
  Class: ComponentClass<SimpleDupeFilter>,
  crawler: Crawler,
  servers: RedisServers,
): SimpleDupeFilter {
  const targets = servers.targets('dupefilter')
  if (!isOnRedis(Class)) return fromCrawler(Class, crawler, 'DUPEFILTER_CLASS')
  const parts = partsAsked(crawler.settings, targets)
  if (parts > 1) return ofParts(Class, crawler, parts)
  if (targets.length <= 1) return fromCrawler(Class, crawler, 'DUPEFILTER_CLASS')
  const shards = targets.map((target, index) => {
    const redis: Crawler['redis'] = (role, because) =>
      role === 'dupefilter' ? servers.to(target, role) : crawler.redis(role, because)
    const shard = { index, count: targets.length }
    return { filter: fromCrawler(Class, { ...crawler, redis, shard }), server: target.shown }
  })
  return new ShardedDupeFilter({ shards, logger: crawler.logger })
}

/** A filter whose parts have keys of their own, on one connection. */
function ofParts(Class: ComponentClass<Shard['filter']>, crawler: Crawler, count: number): ShardedDupeFilter {
  const logger = loggerOfParts(crawler.logger)
  const inPart: Crawler = { ...crawler, logger, ...(crawler.run && { run: runOfParts(crawler.run) }) }
  const shards = Array.from({ length: count }, (_, index) => {
    const filter = fromCrawler(Class, { ...inPart, shard: { index, count, hasOwnKeys: true } })
    if (filter.part.shard === undefined) throw partless(Class, count)
    return { filter, server: partNumber(index) }
  })
  return new ShardedDupeFilter({ shards, isOneRedis: true, logger })
}

/** A class of the user's own that extends a built-in one can be spread over several servers, too. */
function isOnRedis(Class: ComponentClass<unknown>): Class is ComponentClass<Shard['filter']> {
  return Class.prototype instanceof RedisDupeFilter
}

function chosenName(settings: Settings, hasJobDir: boolean) {
  return settings.get('DUPEFILTER_CLASS') ?? (isRedisNamed(settings) && !hasJobDir ? 'redis-set' : 'memory')
}

/**
 * The name of a filter that ends with the process that crawls, and that no other can ask; undefined for all others. A class of the
 * user's own that extends such a filter is one, too.
 */
export async function inProcessFilter(settings: Settings, folder: string): Promise<string | undefined> {
  const chosen = chosenName(settings, false)
  if (chosen === 'none') return undefined
  if (isBuiltinName(chosen)) return isBuiltinInProcess(chosen, settings) ? chosen : undefined
  const Class = await componentClass('DUPEFILTER_CLASS', chosen, DUPEFILTER_NAMES, folder)
  if (!isInProcess(Class)) return undefined
  return typeof chosen === 'string' ? chosen : `the class ${Class.name}`
}

function isBuiltinInProcess(name: keyof typeof DUPEFILTERS, settings: Settings): boolean {
  const { onRedis, inProcess } = DUPEFILTERS[name]
  return inProcess !== undefined && !(onRedis && isRedisNamed(settings))
}

function isRedisNamed(settings: Settings): boolean {
  return redisTargets(settings, 'dupefilter').length > 0
}

function isBuiltinName(chosen: unknown): chosen is keyof typeof DUPEFILTERS {
  return typeof chosen === 'string' && Object.hasOwn(DUPEFILTERS, chosen)
}

/** A JOBDIR has a filter of its own; what is kept elsewhere, or nowhere, would not go with its queue. */
function refuseBesideJobDir(settings: Settings, chosen: unknown): void {
  const digest = settings.get('DUPEFILTER_DIGEST')
  if (digest !== 'fingerprint')
    throw new SettingsError([
      `DUPEFILTER_DIGEST is ${digest}, and JOBDIR is set: a JOBDIR keeps fingerprints, which Scrapy reads and writes too (requests.seen). Unset one of them`,
    ])
  if (chosen !== 'memory' && isBuiltinName(chosen))
    throw new SettingsError([
      `DUPEFILTER_CLASS is ${chosen}, and JOBDIR is set: a JOBDIR keeps the requests seen with its queue, in one transaction. Unset one of them`,
    ])
}

function shownFilter(settings: Settings, { jobDirFilter }: FilterSurroundings): string {
  const chosen = chosenName(settings, jobDirFilter !== undefined)
  if (jobDirFilter && chosen === 'memory') return 'JOBDIR is set, whose filter'
  return `DUPEFILTER_CLASS is ${typeof chosen === 'string' ? chosen : 'a class'}, which`
}

/** A filter as commands see it. */
export interface InspectedFilter {
  readonly filter: DupeFilter
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
  options: CrawlBaseOptions,
  { makes }: { makes: boolean },
): Promise<InspectedFilter> {
  const written = await crawlBase(Class, options)
  const { logger, spider } = written
  const servers = new RedisServers(written.settings, logger, { spider: spider.name, isOutside: true })
  // What a command has asked is rejected where it is not let in any more.
  servers.onHopeless(() => {})
  try {
    const { keys, noted } = await notedOf(written, servers)
    const settings = settingsAsNoted(written.settings, noted)
    const crawler: Crawler = { ...written, settings, redis: servers.redis, close() {} }
    await refuseInvisible(settings, options.folder)
    const chosen = await chosenFilter(crawler, { ...options, servers })
    await servers.open()
    await comparedNote(crawler, chosen, { keys, noted })
    const { filter } = chosen
    const exists = makes || ((await filter.exists?.()) ?? true)
    if (exists) await filter.open()
    const close = async () => {
      await filter.close()
      servers.close()
    }
    return { filter, exists, close }
  } catch (error) {
    servers.close()
    throw error
  }
}

/** The filter that the spider's crawl was begun with, where it is noted. */
async function notedOf({ settings, spider }: CrawlBase, servers: RedisServers) {
  const keys = crawlRedisKeys(crawlNameOf(settings, spider.name))
  const redis = await servers.opened('queue')
  return { keys, noted: redis && (await notedFilterOf({ redis, keys })) }
}

/** Throws `UsageError` for a filter that cannot be seen from outside the process that crawls. */
export async function refuseInvisible(settings: Settings, folder: string): Promise<void> {
  const jobDir = settings.get('JOBDIR')
  if (jobDir !== null && jobDir !== '') {
    throw new UsageError(
      'WL_USAGE',
      `JOBDIR is ${JSON.stringify(jobDir)}: the requests seen are kept there, and only the crawl itself opens it. Their fingerprints are in ${jobDir}/requests.seen`,
    )
  }
  if (settings.get('DUPEFILTER_CLASS') === 'none')
    throw new UsageError(
      'WL_USAGE',
      'DUPEFILTER_CLASS is none: nothing is remembered, so there is nothing to look at',
    )
  const inProcess = await inProcessFilter(settings, folder)
  if (inProcess !== undefined) {
    throw new UsageError(
      'WL_USAGE',
      `the dupefilter is \`${inProcess}\`: it lives and ends with the process that crawls, and there is nothing to look at from outside. With REDIS_URL set, requests seen are kept on Redis (DUPEFILTER_CLASS=redis-set, redis-bloom, …)`,
    )
  }
}
