/** A crawl seen from outside, for `webloom status`. */

import { type CrawlState, type CrawlStatus, type HostView, redisNowMs } from '@webloom/core'
import type { Redis } from 'ioredis'
import { reasonTold } from '../crawl/crawl-leaving.ts'
import { isEmptied, type Todo } from '../crawl/crawl-todo.ts'
import { type CrawlWorker, readWorkerEntry } from '../crawl/crawl-worker.ts'
import { readTold } from '../members/crawl-stats.ts'
import { type CrawlRedisKeys, stateKeys } from '../redis/crawl-redis-keys.ts'
import { luaScript } from '../redis/lua.ts'
import { CrawlShards, shardCount } from '../shards/crawl-shards.ts'
import { countShards } from './shard-counts.ts'
import { answered } from './shards-asked.ts'

type Figure =
  | 'pagesPerMinute'
  | 'itemsPerMinute'
  | 'errorsPerMinute'
  | 'shards'
  | 'silentShards'
  | 'counts'
  | 'done'
  | 'stats'
  | 'statsLack'

/** What is known of a crawl without its spider: `CrawlStatus` has what these figures mean. */
export interface CrawlView
  extends Pick<CrawlStatus, 'state' | 'paused' | 'flushing' | 'run' | 'finishReason' | 'start' | Figure> {
  readonly begunAt: Date | null
  readonly endedAt: Date | null
  /** By Redis's clock. */
  readonly readAt: Date
  /** All workers, lost ones too for ten minutes; the oldest first. */
  readonly workers: readonly CrawlWorker[]
  /** Paused ones first, then those with the most waiting; none where the queue keeps no lines of hosts. */
  readonly hosts: readonly HostView[]
}

export interface ReadCrawlOptions {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  /** STATS_KEY with the crawl's name in it. */
  readonly statsKey: string
  /** Reads hosts from the queue, where it keeps lines of them. */
  readonly hosts?: () => Promise<readonly HostView[]>
}

const viewScript = luaScript('redis/now.lua', 'crawl/counts.lua', 'members/view.lua')

export async function readCrawl({ redis, keys, statsKey, hosts }: ReadCrawlOptions): Promise<CrawlView> {
  const [reply, lines] = await Promise.all([viewScript.run(redis, stateKeys(keys), []), hosts?.() ?? []])
  const [now, flatRecord, flatWorkers, [waiting, delayed, leased, quarantined]] = reply as [
    string,
    string[],
    string[],
    [number, number, number, number],
  ]
  const record = pairsOf(flatRecord)
  const workers = [...pairsOf(flatWorkers).values()]
    .flatMap((text) => readWorkerEntry(text, Number(now)) ?? [])
    .sort((a, b) => a.startedAt.getTime() - b.startedAt.getTime())
  const present = workers.filter(({ lost }) => !lost)
  const begunAt = dateOf(record.get('begunAt'))
  const shards = shardCount(record.get('shards'))
  const [stats, counted] = await Promise.all([
    answered(readTold(redis, statsKey, begunAt)),
    shards > 1 ? countShards(redis, new CrawlShards(keys, shards)) : undefined,
  ])
  const told = stats?.of ?? { totals: {}, isUntold: true }
  return {
    state: (record.get('state') ?? 'idle') as CrawlState,
    paused: record.get('paused') === '1',
    flushing: record.has('flush') || isEmptied(record.get('todo')?.split(' ')[0] as Todo | undefined),
    run: record.get('run') ?? null,
    begunAt,
    endedAt: dateOf(record.get('endedAt')),
    finishReason: reasonTold(record.get('finishReason'), record.get('refusedAs')),
    start: {
      cursor: Number(record.get('startCursor') ?? 0),
      ended: record.get('startEnded') === '1',
      worker: record.get('startOwner') ?? null,
    },
    workers,
    pagesPerMinute: present.reduce((sum, worker) => sum + worker.pagesPerMinute, 0),
    itemsPerMinute: present.reduce((sum, worker) => sum + worker.itemsPerMinute, 0),
    errorsPerMinute: present.reduce((sum, worker) => sum + worker.errorsPerMinute, 0),
    shards,
    silentShards: counted?.silent ?? [],
    counts: counted?.counts ?? { waiting, delayed, leased, quarantined },
    done: counted?.done ?? (record.has('done') ? Number(record.get('done')) : null),
    stats: told.totals,
    statsLack: told.isUntold || workers.some(({ lost }) => lost),
    hosts: lines,
    readAt: new Date(Number(now)),
  }
}

/** The workers that are present, at a time of Redis's clock. */
export interface CrawlPresence {
  /** Ids of the workers that are present. */
  readonly present: readonly string[]
  readonly readAt: Date
}

/** Reads less than the whole crawl: for callers that need to know only whose reports count. */
export async function readPresence({
  redis,
  keys,
}: Pick<ReadCrawlOptions, 'redis' | 'keys'>): Promise<CrawlPresence> {
  const [nowMs, entries] = await Promise.all([redisNowMs(redis), redis.hgetall(keys.workers)])
  const workers = Object.values(entries).flatMap((text) => readWorkerEntry(text, nowMs) ?? [])
  return { present: workers.filter(({ lost }) => !lost).map(({ id }) => id), readAt: new Date(nowMs) }
}

function pairsOf(flat: readonly string[]): Map<string, string> {
  return new Map(flat.flatMap((field, n) => (n % 2 === 0 ? [[field, flat[n + 1]!] as const] : [])))
}

function dateOf(ms: string | undefined): Date | null {
  return ms === undefined ? null : new Date(Number(ms))
}
