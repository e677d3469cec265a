/** `webloom status`: a crawl on Redis as it is at this moment. */

import type { StatValue } from '@webloom/core'
import { type CrawlView, type RedisHealth, readCrawl, redisHealth } from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import { type CrawlFromOutside, type OutsideFlags, withCrawlFromOutside } from '../crawl-from-outside.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { byteSize, duration, durationInWords, grouped } from '../terminal/figures.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'

/** A server with the roles it has. */
interface ServerView extends RedisHealth {
  readonly roles: readonly string[]
  readonly shown: string
}

interface Status extends CrawlView {
  readonly crawl: string
  readonly servers: readonly ServerView[]
}

/** Prints state, queue, workers, totals, hosts and servers. */
export async function status(Class: SpiderClass, flags: OutsideFlags, config: LoadedConfig): Promise<void> {
  const seen = await withCrawlFromOutside(Class, flags, config, statusOf)
  if (flags.json) console.log(visibleJson(JSON.stringify(seen)))
  else for (const line of statusLines(seen, Date.now())) console.log(visible(line))
}

async function statusOf(crawl: CrawlFromOutside): Promise<Status> {
  const { keys } = crawl
  const [view, servers] = await Promise.all([readCrawl(crawl), serversOf(crawl)])
  return { crawl: keys.queueName, ...view, servers }
}

async function serversOf({ servers }: CrawlFromOutside): Promise<ServerView[]> {
  const roles = ['queue', 'dupefilter', 'seeds', 'items'] as const
  const targets = roles.flatMap((role) => servers.targets(role).map((target) => ({ role, target })))
  const byServer = [...Map.groupBy(targets, ({ target }) => target.shown)]
  const connections = byServer.map(([, uses]) => servers.to(uses[0]!.target))
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
    `${crawl}   ${state}${paused ? ', paused' : ''}${flushing ? ', being emptied' : ''}${since}${ended}`,
    ...queueLines(seen),
    ...workerLines(seen, now),
    ...totalLines(seen.stats),
    ...hostLines(seen, now),
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
        : `    ${worker.id}   downloading ${worker.downloading} · scraping ${worker.scraping} · ${grouped(worker.pagesPerMinute)} pages/min · for ${duration(now - worker.startedAt.getTime())}`,
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

function hostLines({ hosts }: Status, now: number): string[] {
  if (hosts.length === 0) return []
  return [
    row('hosts', 'those with the most waiting'),
    ...hosts.map(({ slot, waiting, leased, nextAt }) => {
      const inMs = nextAt ? nextAt.getTime() - now : 0
      const next = inMs > 0 ? ` · next in ${durationInWords(inMs / 1000)}` : ''
      return `    ${slot}   waiting ${grouped(waiting)} · leased ${grouped(leased)}${next}`
    }),
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

function row(name: string, text: string): string {
  return `  ${name.padEnd(10)}${text}`
}
