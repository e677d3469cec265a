/** As much of a crawl as a command needs that looks at it, or tells it something, and takes no part in it. */

import {
  type Crawler,
  type CrawlName,
  crawlKey,
  crawlNameOf,
  type SettingName,
  UsageError,
} from '@webloom/core'
import {
  type CrawlRedisKeys,
  crawlRedisKeys,
  crawlShown,
  isCrawlKnown,
  notedAlikeOf,
  notedModeOf,
} from '@webloom/queue'
import { isRedisSpider, type Spider, type SpiderClass, seedOptionsOf } from '@webloom/spider'
import type { Redis } from 'ioredis'
import type { LoadedConfig } from '../loading/config.ts'
import { RedisServers } from '../redis/redis-servers.ts'
import { typedCrawl } from '../redis/typed-crawl.ts'
import { type CrawlBaseOptions, crawlBase, crawlBaseOf } from './crawl-base.ts'

/** The flags of such commands. */
export interface OutsideFlags {
  readonly set?: readonly string[]
  readonly argument?: readonly string[]
  readonly json?: boolean
}

/** As the crawl's own parts see it, and its spider as its author sees it. */
export type CrawlerFromOutside = Crawler & { readonly spider: Spider; readonly servers: RedisServers }

export interface CrawlFromOutside {
  readonly crawler: CrawlerFromOutside
  readonly servers: RedisServers
  /** The queue's. */
  readonly redis: Redis
  /** Its address, without its password. */
  readonly shown: string
  readonly keys: CrawlRedisKeys
  readonly statsKey: string
  /** Key of the start URLs from outside; null for a spider that takes none. */
  readonly seedKey: string | null
  readonly name: CrawlName
  /** The crawl as it is typed. */
  readonly typed: string
  readonly folder: string
}

/** Opens the queue's Redis of a spider's crawl for as long as `act` takes. */
export async function withCrawlFromOutside<T>(
  Class: SpiderClass,
  flags: OutsideFlags,
  config: LoadedConfig,
  act: (crawl: CrawlFromOutside) => Promise<T>,
): Promise<T> {
  const crawl = crawlFromOutside(await crawlerFromOutside(Class, flags, config), config.folder)
  try {
    await crawl.servers.open()
    return await act(await asItIsQueued(crawl))
  } finally {
    crawl.servers.close()
  }
}

/** A crawl's requests are where its workers have put them, and in their order, whatever is set where a command is typed. */
async function asItIsQueued(crawl: CrawlFromOutside): Promise<CrawlFromOutside> {
  const [mode, alike] = await Promise.all([notedModeOf(crawl), notedAlikeOf(crawl)])
  const { settings } = crawl.crawler
  const noted: Readonly<Record<string, string | undefined>> = { ...alike, QUEUE_MODE: mode }
  const others = QUEUED_BY.filter((name) => (noted[name] ?? settings.get(name)) !== settings.get(name))
  if (others.length === 0) return crawl
  const asNoted = Object.fromEntries(others.map((name) => [name, noted[name]]))
  return { ...crawl, crawler: { ...crawl.crawler, settings: settings.with('command', asNoted) } }
}

const QUEUED_BY = [
  'QUEUE_MODE',
  'POLITENESS_GROUP_BY',
  'SCHEDULER_QUEUE_CLASS',
] as const satisfies readonly SettingName[]

/** Throws `UsageError` where no Redis is named. Opens nothing: that, and closing its servers, is the caller's. */
export function crawlFromOutside(crawler: CrawlerFromOutside, folder: string): CrawlFromOutside {
  const { settings, spider, servers } = crawler
  const redis = servers.connection('queue')
  if (!redis)
    throw new UsageError(
      'WL_USAGE',
      'no Redis is named, so there is no crawl that could be seen from outside its process. Set REDIS_URL=redis://host:6379, or QUEUE_REDIS_URL',
    )
  const { shown } = servers.targets('queue')[0]!
  const name = crawlNameOf(settings, spider.name)
  const statsKey = crawlKey(settings.getString('STATS_KEY'), name)
  const seedKey = isRedisSpider(spider) ? seedOptionsOf(spider, settings).key : null
  const typed = typedCrawl(spider, settings)
  return {
    crawler,
    servers,
    redis,
    shown,
    keys: crawlRedisKeys(name),
    statsKey,
    seedKey,
    name,
    typed,
    folder,
  }
}

/** Throws `UsageError` for a crawl that is not known: a misspelt CRAWL_ID, or the wrong Redis, would look like one that has nothing. */
export async function refuseUnknownCrawl({ redis, keys, shown }: CrawlFromOutside): Promise<void> {
  if (await isCrawlKnown(redis, keys)) return
  throw new UsageError(
    'WL_USAGE',
    `there is no ${crawlShown(keys)} at ${shown}, and there was none. Set CRAWL_ID and REDIS_URL as the crawl has them; webloom runs  lists the crawls of the project`,
  )
}

/**
 * Settings, log and spider, as the crawl itself would have them. Opens nothing.
 *
 * @param createLogger default: the log of the settings
 */
export async function crawlerFromOutside(
  Class: SpiderClass,
  flags: OutsideFlags,
  config: LoadedConfig,
  createLogger?: CrawlBaseOptions['createLogger'],
): Promise<CrawlerFromOutside> {
  const options = crawlBaseOf(flags, config)
  const base = await crawlBase(Class, { ...options, ...(createLogger && { createLogger }) })
  const servers = new RedisServers(base.settings, base.logger, { spider: base.spider.name, isOutside: true })
  // Nobody waits for a command until some day it is let in again: what it has asked is rejected.
  servers.onHopeless(() => {})
  return { ...base, redis: servers.redis, servers, close() {} }
}
