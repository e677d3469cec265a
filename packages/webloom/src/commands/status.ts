/** `webloom status`: a crawl on Redis as it is at this moment. */

import { crawlKey, type HostLists, REDIS_ROLES, type StatValue } from '@webloom/core'
import {
  type CrawlView,
  crawlShown,
  paceOf,
  type RedisHealth,
  readCrawl,
  readHostLists,
  readSeedCounts,
  readSlot,
  readSlots,
  redisHealth,
  refuseOtherFormat,
  type SeedCounts,
  type SlotView,
} from '@webloom/queue'
import { isRedisSpider, type SpiderClass, seedOptionsOf } from '@webloom/spider'
import {
  type CrawlFromOutside,
  type OutsideFlags,
  withCrawlFromOutside,
} from '../assembly/crawl-from-outside.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { byteSize, duration, durationInWords, grouped, row } from '../terminal/figures.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'
import { hostLines, hostListLines } from './status-hosts.ts'

/** A server with the roles it has. */
interface ServerView extends RedisHealth {
  readonly roles: readonly string[]
  readonly shown: string
}

export interface StatusFlags extends OutsideFlags {
  /** The one host that is shown; default: those that are paused, or have most waiting. */
  readonly host?: string
}

interface Status extends CrawlView {
  readonly crawl: string
  /** QUEUE_MODE. */
  readonly mode: 'turns' | 'job'
  /** Start URLs from outside; null for a spider that takes none. */
  readonly seeds: SeedCounts | null
  /** Items that lie where the pipeline `redis` writes them; null when there is nothing. */
  readonly itemsQueued: number | null
  readonly servers: readonly ServerView[]
  readonly hosts: readonly SlotView[]
  /** What stands out among the hosts, as the workers that are present have told within the last ten seconds or so. */
  readonly hostLists: HostLists
  /** The host that was asked for; null: none was. */
  readonly host: string | null
}

/** Hosts shown: the paused ones, then those with the longest lines. */
const HOSTS_MAX = 20

/** Prints state, queue, workers, totals, hosts, what stands out among them, and servers. */
export async function status(Class: SpiderClass, flags: StatusFlags, config: LoadedConfig): Promise<void> {
  const host = flags.host ?? null
  const seen = await withCrawlFromOutside(Class, flags, config, (crawl) => statusOf(crawl, host))
  if (flags.json) console.log(visibleJson(JSON.stringify(seen)))
  else for (const line of statusLines(seen, Date.now())) console.log(visible(line))
}

async function statusOf(crawl: CrawlFromOutside, host: string | null): Promise<Status> {
  const { keys, crawler } = crawl
  const mode = crawler.settings.get('QUEUE_MODE')
  await refuseOtherFormat(crawl)
  // It opens all connections.
  const servers = await serversOf(crawl)
  const [view, hosts, seeds, itemsQueued] = await Promise.all([
    readCrawl(crawl),
    mode === 'turns' ? hostsOf(crawl, host) : [],
    seedsOf(crawl),
    itemsQueuedOf(crawl),
  ])
  const present = view.workers.filter(({ lost }) => !lost).map(({ id }) => id)
  const hostLists = await readHostLists(crawl.redis, keys, present)
  return { crawl: keys.queueName, mode, ...view, hosts, hostLists, host, seeds, itemsQueued, servers }
}

/** The delay of each with that of the settings in it. */
async function hostsOf({ redis, keys, crawler }: CrawlFromOutside, host: string | null): Promise<SlotView[]> {
  const pace = paceOf(crawler.settings)
  const slots = host === null ? await readSlots(redis, keys, HOSTS_MAX) : [await readSlot(redis, keys, host)]
  return slots.map((slot) => ({ ...slot, delayMs: Math.max(pace(slot.slot).delayMs, slot.delayMs) }))
}

async function seedsOf({
  crawler: { spider, settings },
  servers,
}: CrawlFromOutside): Promise<SeedCounts | null> {
  const redis = servers.connection('seeds')
  if (!redis || !isRedisSpider(spider)) return null
  return readSeedCounts(redis, seedOptionsOf(spider, settings).key)
}

async function itemsQueuedOf({
  crawler: { spider, settings },
  servers,
}: CrawlFromOutside): Promise<number | null> {
  const redis = servers.connection('items')
  const name = { spider: spider.name, crawlId: settings.get('CRAWL_ID') }
  const key = crawlKey(settings.getString('REDIS_ITEMS_KEY'), name)
  const type = await redis?.type(key)
  if (type === 'list') return redis!.llen(key)
  return type === 'stream' ? redis!.xlen(key) : null
}

async function serversOf({ servers }: CrawlFromOutside): Promise<ServerView[]> {
  const targets = REDIS_ROLES.flatMap((role) => servers.targets(role).map((target) => ({ role, target })))
  const byServer = [...Map.groupBy(targets, ({ target }) => target.shown)]
  const connections = byServer.map(([, uses]) => servers.to(uses[0]!.target, uses[0]!.role))
  await servers.open()
  return Promise.all(
    byServer.map(async ([shown, uses], n) => ({
      roles: uses.map(({ role }) => role),
      shown,
      ...(await redisHealth(connections[n]!)),
    })),
  )
}

/** The text form, line by line. */
export function statusLines(seen: Status, now: number): string[] {
  const { crawl, state, paused, flushing, begunAt, endedAt, finishReason } = seen
  const since = begunAt ? `, begun ${begunAt.toISOString()}` : ''
  const ended = endedAt ? `, ended ${endedAt.toISOString()}${finishReason ? ` (${finishReason})` : ''}` : ''
  return [
    `${crawlShown({ queueName: crawl })}   ${state}${paused ? ', paused' : ''}${flushing ? ', being emptied' : ''}${since}${ended}`,
    ...queueLines(seen),
    ...workerLines(seen, now),
    ...totalLines(seen.stats),
    ...seedLines(seen),
    ...hostLines(seen),
    ...hostListLines(seen),
    ...seen.servers.flatMap(serverLines),
  ]
}

function queueLines({ counts, start, state }: Status): string[] {
  const { waiting, delayed, leased, quarantined } = counts
  return [
    row(
      'queue',
      `waiting ${grouped(waiting)} · delayed ${grouped(delayed)} · leased ${grouped(leased)} · quarantined ${grouped(quarantined)}`,
    ),
    ...(state === 'running' && !start.ended
      ? [row('start()', `${grouped(start.cursor)} elements so far, run by ${start.worker ?? 'nobody'}`)]
      : []),
  ]
}

function workerLines({ workers, pagesPerMinute, itemsPerMinute, state }: Status, now: number): string[] {
  const lost = workers.filter((worker) => worker.lost).length
  const present = workers.length - lost
  if (workers.length === 0) return state === 'running' ? [row('workers', 'none is present')] : []
  return [
    row(
      'workers',
      `${present} present${lost > 0 ? `, ${lost} lost` : ''} · ${grouped(pagesPerMinute)} pages/min · ${grouped(itemsPerMinute)} items/min`,
    ),
    ...workers.map((worker) =>
      worker.lost
        ? `    ${worker.id}   lost, last seen ${durationInWords((now - worker.seenAt.getTime()) / 1000)} ago`
        : `    ${worker.id}   ${worker.blocked ? 'blocked by a callback · ' : ''}downloading ${worker.downloading} · scraping ${worker.scraping} · ${grouped(worker.pagesPerMinute)} pages/min · for ${duration(now - worker.startedAt.getTime())}`,
    ),
  ]
}

function totalLines(stats: Readonly<Record<string, StatValue>>): string[] {
  const count = (key: string) => grouped(Number(stats[key] ?? 0))
  if (Object.keys(stats).length === 0) return []
  return [
    row(
      'totals',
      `pages ${count('response_received_count')} · items ${count('item_scraped_count')} · errors ${count('log_count/ERROR')} · filtered ${count('dupefilter/filtered')} · retries ${count('retry/count')}`,
    ),
  ]
}

function seedLines({ seeds, itemsQueued }: Status): string[] {
  return [
    ...(seeds
      ? [
          row(
            'seeds',
            `waiting ${grouped(seeds.waiting)} · in work ${grouped(seeds.inWork)} · invalid ${grouped(seeds.invalid)}`,
          ),
        ]
      : []),
    ...(itemsQueued === null ? [] : [row('items', `queued ${grouped(itemsQueued)}`)]),
  ]
}

function serverLines({
  roles,
  shown,
  version,
  usedBytes,
  maxBytes,
  persistence,
  warnings,
}: ServerView): string[] {
  const share =
    maxBytes > 0 ? ` of ${byteSize(maxBytes)} (${Math.round((100 * usedBytes) / maxBytes)} %)` : ''
  return [
    row(
      'redis',
      `${shown}   ${roles.join(', ')} · ${byteSize(usedBytes)}${share} · ${persistence} · ${version}`,
    ),
    ...warnings.map((warning) => `    ${warning}`),
  ]
}
