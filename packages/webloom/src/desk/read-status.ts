/** A crawl on Redis as it stands: for `webloom status`, and for all that looks at crawls by their desk. */

import {
  type CrawlStatus,
  crawlKey,
  type Moment,
  masterPlacesOf,
  mastersOf,
  REDIS_ROLES,
  redisError,
  type SeedsSeen,
  type ServerSeen,
  storeTrouble,
} from '@webloom/core'
import {
  answered,
  type CrawlView,
  isRefusedLogin,
  readCrawl,
  readSeedCounts,
  redisHealth,
  refuseOtherFormat,
} from '@webloom/queue'
import type { Redis } from 'ioredis'
import type { CrawlFromOutside } from '../assembly/crawl-from-outside.ts'
import { limitOf } from './crawl-limit.ts'
import { timeLeftOf } from './time-left.ts'

export async function readStatus(crawl: CrawlFromOutside): Promise<CrawlStatus> {
  const { settings } = crawl.crawler
  await refuseOtherFormat(crawl)
  // It opens all connections.
  const servers = await serversOf(crawl)
  const [view, seeds, items] = await Promise.all([
    readCrawl(crawl),
    answered(seedsOf(crawl)),
    answered(itemsQueuedOf(crawl)),
  ])
  const { hosts: _, ...seen } = view
  const mode = settings.get('QUEUE_MODE')
  const highWater = settings.getFloat('REDIS_HIGH_WATER')
  const figures = {
    ...asJson(seen),
    seeds: seeds?.of ?? null,
    itemsQueued: items?.of ?? null,
    servers,
    highWater,
  }
  return {
    crawl: crawl.keys.queueName,
    mode,
    ...figures,
    // A command more for each page.
    done: mode === 'job' ? null : view.done,
    limit: limitOf(figures, {
      concurrency: settings.getInt('CONCURRENT_REQUESTS'),
      startLowWater: settings.getInt('START_LOW_WATER'),
      spider: crawl.typed,
    }),
    timeLeft: timeLeftOf(figures),
  }
}

type AsJson<T> = T extends Date
  ? Moment
  : T extends readonly (infer Entry)[]
    ? readonly AsJson<Entry>[]
    : T extends object
      ? { readonly [Name in keyof T]: AsJson<T[Name]> }
      : T

function asJson(view: Omit<CrawlView, 'hosts'>): AsJson<Omit<CrawlView, 'hosts'>> {
  return JSON.parse(JSON.stringify(view))
}

async function seedsOf({ seedKey, servers }: CrawlFromOutside): Promise<SeedsSeen | null> {
  const redis = seedKey === null ? undefined : await servers.opened('seeds')
  return redis ? readSeedCounts(redis, seedKey!) : null
}

async function itemsQueuedOf(crawl: CrawlFromOutside): Promise<number | null> {
  const redis = await crawl.servers.opened('items')
  const key = itemsKey(crawl)
  const type = await redis?.type(key)
  if (type === 'list') return redis!.llen(key)
  return type === 'stream' ? redis!.xlen(key) : null
}

/** Returns where the pipeline `redis` writes items. */
export function itemsKey({ crawler: { settings }, name }: CrawlFromOutside): string {
  return crawlKey(settings.getString('REDIS_ITEMS_KEY'), name)
}

type Health = Omit<ServerSeen, 'roles' | 'shown'>

const silent = (why: string): Health => ({
  version: '',
  maxmemoryPolicy: 'unknown',
  persistence: 'unknown',
  usedBytes: 0,
  maxBytes: 0,
  cpuSeconds: 0,
  warnings: [why],
})

const NO_ANSWER = silent('it does not answer')

/** A server of several that is away, or lacks our user, must not keep what the others tell. */
async function healthOf(master: Redis): Promise<Health> {
  const asked = redisHealth(master).catch((error: unknown) => {
    if (isRefusedLogin(error))
      return silent('it does not let this process in: webloom doctor  says what to type there')
    // What is asked of one node of a cluster is not asked again when its connection is lost.
    if (storeTrouble(redisError(error)) === 'passing') return NO_ANSWER
    throw error
  })
  return (await answered(asked))?.of ?? NO_ANSWER
}

async function serversOf({ servers }: CrawlFromOutside): Promise<ServerSeen[]> {
  const targets = REDIS_ROLES.flatMap((role) => servers.targets(role).map((target) => ({ role, target })))
  const byServer = [...Map.groupBy(targets, ({ target }) => target.shown)]
  const connections = byServer.map(([, uses]) => servers.to(uses[0]!.target, uses[0]!.role))
  await servers.open()
  const seen = byServer.map(async ([shown, uses], n) => {
    const roles = uses.map(({ role }) => role)
    const all = await healthsOf(connections[n]!)
    // Of a cluster each master is a server.
    return all.map(([place, health]) => ({
      roles,
      shown: all.length === 1 ? shown : `${place} of ${shown}`,
      ...health,
    }))
  })
  return (await Promise.all(seen)).flat()
}

/** Resolves to what each master tells, by its place. */
async function healthsOf(redis: Redis): Promise<[place: string, health: Health][]> {
  const told = mastersOf(redis).map(
    async (master): Promise<[string, Health]> => [
      `${master.options.host}:${master.options.port}`,
      await healthOf(master),
    ],
  )
  const byPlace = new Map(await Promise.all(told))
  for (const place of masterPlacesOf(redis))
    if (!byPlace.has(place))
      byPlace.set(place, silent('there is no connection to it: webloom doctor  says why'))
  return [...byPlace]
}
