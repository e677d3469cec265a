/** Crawls that are noted as lost, for `webloom doctor`: what was queued of them is gone from Redis, and nobody cleared them. */

import { existsSync } from 'node:fs'
import { NoAnswer, silentLogger, WebloomError, within } from '@webloom/core'
import { CRAWL_LOST, crawlShown, lostRunOf, readRuns, reasonTold } from '@webloom/queue'
import { crawlBaseOf } from '../assembly/crawl-base.ts'
import {
  type CrawlFromOutside,
  crawlerFromOutside,
  crawlFromOutside,
} from '../assembly/crawl-from-outside.ts'
import { openDupefilter } from '../assembly/open-dupefilter.ts'
import { configHere } from '../loading/config.ts'
import { type CrawlFlags, givenSettings, spiderArguments } from '../loading/crawl-flags.ts'
import { type NamedSpider, namedSpider } from '../loading/named-spider.ts'
import { loadProjectSpiders } from '../loading/spider-loader.ts'
import { lostCrawlOf, lostFound } from '../outcome/crawl-lost-text.ts'
import { typedWorkerOf } from '../redis/typed-crawl.ts'
import type { CheckResults } from './check-result.ts'

/** As long as each server may take to answer. */
const LOOK_MS_MAX = 3000

interface SpiderCrawl extends NamedSpider {
  readonly crawl: CrawlFromOutside
}

/** Looks at the crawl of the spider that is named, or at those of all spiders of the project. */
export async function checkLostCrawls(name: string | undefined, flags: CrawlFlags): Promise<CheckResults> {
  return lostCrawls(await spidersOf(name, flags).catch(unlessToldElsewhere), flags)
}

/** Resolves to what is lost of the crawls of these spiders. */
export async function lostCrawls(spiders: readonly NamedSpider[], flags: CrawlFlags): Promise<CheckResults> {
  const crawls = (await Promise.all(spiders.map((spider) => crawlsOnRedis(spider, flags)))).flat()
  // Spiders of one project have one Redis, mostly: each server is asked by one connection.
  const byServer = Map.groupBy(crawls, ({ crawl }) =>
    JSON.stringify(crawl.servers.targets('queue')[0]?.options),
  )
  const looks = [...byServer.values()].map((same) =>
    within(LOOK_MS_MAX, 'lost crawls', lookAt(same, flags)).catch(unlessToldElsewhere),
  )
  try {
    return (await Promise.all(looks)).flat()
  } finally {
    for (const { crawl } of crawls) crawl.servers.close()
  }
}

/** A spider that cannot be loaded, a Redis that is away or refuses: other checks tell it. */
function unlessToldElsewhere(error: unknown): [] {
  const isReply = error instanceof Error && error.name === 'ReplyError'
  if (error instanceof WebloomError || error instanceof NoAnswer || isReply) return []
  throw error
}

async function spidersOf(name: string | undefined, flags: CrawlFlags): Promise<readonly NamedSpider[]> {
  if (name !== undefined) return [await namedSpider(name, flags)]
  const config = await configHere()
  if (!config || !existsSync(config.path)) return []
  const { spiders } = await loadProjectSpiders(config, spiderArguments(flags), givenSettings(flags))
  return spiders.map(({ Class }) => ({ Class, config }))
}

/** Opens nothing. Resolves to no crawl for a spider whose crawl is not on Redis, or that cannot be made: that is told elsewhere. */
async function crawlsOnRedis(spider: NamedSpider, flags: CrawlFlags): Promise<SpiderCrawl[]> {
  try {
    const crawler = await crawlerFromOutside(spider.Class, flags, spider.config, () => silentLogger)
    if (crawler.settings.get('JOBDIR') !== null || crawler.servers.targets('queue').length === 0) return []
    return [{ ...spider, crawl: crawlFromOutside(crawler, spider.config.folder) }]
  } catch {
    return []
  }
}

async function lookAt(same: readonly SpiderCrawl[], flags: CrawlFlags): Promise<CheckResults> {
  const { servers, redis } = same[0]!.crawl
  await servers.open()
  const found = await Promise.all(
    same.map((one) => lostOf({ ...one, crawl: { ...one.crawl, redis } }, flags)),
  )
  return found.flat()
}

async function lostOf({ crawl, ...spider }: SpiderCrawl, flags: CrawlFlags): Promise<CheckResults> {
  const { crawler, redis, keys, shown } = crawl
  const fields = ['state', 'finishReason', 'refusedAs', 'persists']
  const [state, finishReason, refusedAs, persists] = await redis.hmget(keys.record, ...fields)
  const isLost = state
    ? (state !== 'running' && reasonTold(finishReason, refusedAs) === CRAWL_LOST) ||
      (await lostRunOf(redis, keys)) !== undefined
    : await hasLeftAFilter(crawl, spider, flags)
  if (!isLost) return []
  const worker = typedWorkerOf(crawler.spider, crawler.settings, { isKept: persists === '1' })
  const lost = { ...lostCrawlOf(crawler.spider, crawler.settings, shown), worker }
  return [{ check: 'crawl', state: 'warn', ...lostFound(lost, crawlShown(keys)) }]
}

/** The run of a crawl that was cleared is kept, and its filter is not. */
async function hasLeftAFilter(
  { redis, keys }: CrawlFromOutside,
  { Class, config }: NamedSpider,
  flags: CrawlFlags,
): Promise<boolean> {
  const [run] = await readRuns(redis, keys)
  if (run?.finishReason !== CRAWL_LOST) return false
  const options = { ...crawlBaseOf(flags, config), createLogger: () => silentLogger }
  const { exists, close } = await openDupefilter(Class, options, { makes: false })
  await close()
  return exists
}
