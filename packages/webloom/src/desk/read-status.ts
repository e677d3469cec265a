/** A crawl on Redis as it stands: for `webloom status`, and for all that looks at crawls by their desk. */

import {
  type CrawlStatus,
  crawlKey,
  type Moment,
  mastersOf,
  REDIS_ROLES,
  type SeedsSeen,
  type ServerSeen,
} from '@webloom/core'
import {
  answered,
  type CrawlView,
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
      spider: crawl.name.spider,
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

const SILENT: Omit<ServerSeen, 'roles' | 'shown'> = {
  version: '',
  maxmemoryPolicy: 'unknown',
  persistence: 'unknown',
  usedBytes: 0,
  maxBytes: 0,
  cpuSeconds: 0,
  warnings: ['it does not answer'],
}

/** A server of several that is away must not keep what the others tell. */
async function healthOf(master: Redis) {
  return (await answered(redisHealth(master)))?.of ?? SILENT
}

async function serversOf({ servers }: CrawlFromOutside): Promise<ServerSeen[]> {
  const targets = REDIS_ROLES.flatMap((role) => servers.targets(role).map((target) => ({ role, target })))
  const byServer = [...Map.groupBy(targets, ({ target }) => target.shown)]
  const connections = byServer.map(([, uses]) => servers.to(uses[0]!.target, uses[0]!.role))
  await servers.open()
  return Promise.all(
    byServer.flatMap(([shown, uses], n) =>
      mastersOf(connections[n]!).map(async (master, _n, all) => ({
        roles: uses.map(({ role }) => role),
        // Of a cluster each master is a server.
        shown: all.length === 1 ? shown : `${master.options.host}:${master.options.port} of ${shown}`,
        ...(await healthOf(master)),
      })),
    ),
  )
}
