/**
 * A crawl as it stands at one moment: the figures of `webloom status --json`, of the dashboard, of the HTTP API and of the
 * metrics. All of it is JSON: moments are ISO 8601 in UTC.
 */

import type { StatValue } from '../crawl/stats.ts'
import type { QueueCounts } from '../ports/request-queue.ts'

/** An ISO 8601 date and time in UTC: `2026-11-25T16:00:00.000Z`. */
export type Moment = string

export const CRAWL_STATES = ['idle', 'running', 'stopped', 'finished'] as const
export type CrawlState = (typeof CRAWL_STATES)[number]

/** A crawl and how it stands, in a list of many. */
export interface CrawlSummary {
  /** As it stands in addresses: the spider's name, `quotes@2026-11` with a CRAWL_ID; `quotes:2` on the second server that has one. */
  readonly id: string
  /** '' in the place of all crawls of a server that does not answer and of which none is known yet; `id` is its address then. */
  readonly spider: string
  readonly crawlId: string | null
  /** The queue's server, without its password. `this process` for a crawl without Redis. */
  readonly server: string
  /** Null: its server does not answer, `trouble` says why, and all figures are 0. */
  readonly state: CrawlState | null
  readonly trouble?: string
  readonly paused: boolean
  readonly begunAt: Moment | null
  readonly endedAt: Moment | null
  readonly finishReason: string | null
  readonly workers: WorkerCounts
  readonly counts: QueueCounts
  readonly pagesPerMinute: number
  readonly itemsPerMinute: number
  /** Of all workers since the run began. */
  readonly totals: CrawlTotals
}

export interface WorkerCounts {
  readonly present: number
  readonly lost: number
  /** Of the present ones, those whose event loop a callback blocks. */
  readonly blocked: number
}

/** The totals that everybody looks at first. */
export interface CrawlTotals {
  readonly pages: number
  readonly items: number
  /** Without the lines that tell what monitors have found. */
  readonly errors: number
  readonly filtered: number
  readonly retries: number
}

/** Returns the totals that stand in stats; 0 for what was not counted yet. */
export function totalsOf(stats: Readonly<Record<string, StatValue>>): CrawlTotals {
  const count = (key: string) => Number(stats[key] ?? 0)
  return {
    pages: count('response_received_count'),
    items: count('item_scraped_count'),
    errors: linesAt('ERROR', count),
    filtered: count('dupefilter/filtered'),
    retries: count('retry/count'),
  }
}

/** Lines of the log at that level. Those that tell of alerts are no errors of the crawl, and no monitor may make another alert of them. */
export function linesAt(level: 'ERROR' | 'WARNING', count: (stat: string) => number): number {
  return count(`log_count/${level}`) - count(`monitors/log_count/${level}`)
}

/** A worker as others see it. What a worker of an older release does not tell is 0, or ''. */
export interface WorkerSeen {
  readonly id: string
  /** The machine. */
  readonly host: string
  readonly pid: number
  /** By the worker's own clock. */
  readonly startedAt: Moment
  /** Its last heartbeat, by Redis's clock. */
  readonly seenAt: Moment
  /** True without a heartbeat for ten seconds: the worker was killed, cut off, or stopped (SIGSTOP). */
  readonly lost: boolean
  readonly downloading: number
  readonly scraping: number
  /** Its callbacks and pipelines work on as many bytes as SCRAPER_SLOT_MAX_ACTIVE_SIZE allows: it begins no page until they are fewer. */
  readonly scrapingFull: boolean
  /** It has had nothing to do for half a minute, but the queue has requests in flight in its name: restart it. */
  readonly stalled: boolean
  /** What it waits for before it takes part in the crawl, in words behind “it waits”; '': it takes part. */
  readonly waits: string
  /** Hosts of which it has something; 0 where the queue does not say (QUEUE_MODE=job). */
  readonly heldHosts: number
  /** How long the host of these that takes longest takes at least, at its delay, milliseconds; 0: none has a delay. */
  readonly longestMs: number
  readonly longestHost: string
  /** Requests that it fetches alone, or is about to: each was in flight as a worker was lost, and may have killed it. 0 where the queue does not say (QUEUE_MODE=job). */
  readonly suspects: number
  /** Since the worker started. */
  readonly pages: number
  readonly items: number
  /** Messages that it has logged as errors. */
  readonly errors: number
  /** Over the last ten seconds. */
  readonly pagesPerMinute: number
  readonly itemsPerMinute: number
  readonly errorsPerMinute: number
  /**
   * The part of it that was in use over the last ten seconds, 0 to 1: of its CONCURRENT_REQUESTS places, or of its event loop's time,
   * whichever is more. Pages per minute by this is what it can do.
   */
  readonly busy: number
  /** A callback blocks its event loop. */
  readonly blocked: boolean
  /** Version of webloom that it runs. */
  readonly release: string
  /** How late its timers were since the heartbeat before: ninety-nine of a hundred were sooner. */
  readonly loopLagMs: number
  readonly rssBytes: number
  /** Processor time by time that has passed: 1 is one core. */
  readonly cpuCores: number
}

/** A Redis server and what it is for. */
export interface ServerSeen {
  readonly roles: readonly string[]
  /** Its address, without its password. */
  readonly shown: string
  readonly version: string
  readonly maxmemoryPolicy: string
  /** What survives a restart of this Redis; unknown where CONFIG is not allowed. */
  readonly persistence: 'aof' | 'rdb' | 'none' | 'unknown'
  readonly usedBytes: number
  /** 0: no limit. */
  readonly maxBytes: number
  /** Processor time that it has used since it started. */
  readonly cpuSeconds: number
  /** In words, for people. */
  readonly warnings: readonly string[]
}

/** A shard that has not answered: its server is away, or its slot is half moved. Its figures are missing. */
export interface SilentShard {
  /** `02`; `home` for where the crawl's record is, of which only what is on its way to shards is missing. */
  readonly shard: string
  /** `10.0.4.2:6379`, of its slot as the client knows it. */
  readonly server: string
}

/** Returns which shards do not answer, in words; '' when all do. */
export function silentWords(silent: readonly SilentShard[]): string {
  return silent.map(({ shard, server }) => `shard ${shard} at ${server} does not answer`).join('; ')
}

/** Start URLs from outside. */
export interface SeedsSeen {
  readonly waiting: number
  readonly inWork: number
  readonly invalid: number
}

/** What can keep a crawl from going faster. */
export const LIMIT_KINDS = [
  'ended',
  'paused',
  'no workers',
  'joining',
  'redis memory',
  'workers',
  'memory',
  'suspects',
  'hosts',
  'nothing left',
  'none',
] as const
export type LimitKind = (typeof LIMIT_KINDS)[number]

export interface CrawlLimit {
  readonly kind: LimitKind
  /** A sentence or two, with the figures that it follows from, and what can be done. */
  readonly words: string
}

/** How long the crawl still takes, as far as that can be known: each bound is null where it cannot. */
export interface TimeLeft {
  /** No sooner: the longest line at its host's delay. */
  readonly atLeastMs: number | null
  /** What is queued now at the present rate, if no new links were found. */
  readonly atThisRateMs: number | null
  readonly words: string
}

/** All that `webloom status --json` has, but for its hosts. */
export interface CrawlStatus {
  /** BullMQ's name of the queue: `{quotes}`. */
  readonly crawl: string
  /** QUEUE_MODE. */
  readonly mode: 'turns' | 'job'
  /** `running` without a worker that is present: all were killed, and the next one goes on with it. */
  readonly state: CrawlState
  readonly paused: boolean
  /** Queue and filter are to be emptied, or are just being. */
  readonly flushing: boolean
  readonly run: string | null
  readonly begunAt: Moment | null
  readonly endedAt: Moment | null
  readonly finishReason: string | null
  readonly start: { readonly cursor: number; readonly ended: boolean; readonly worker: string | null }
  /** All workers, lost ones too for ten minutes; the oldest first. */
  readonly workers: readonly WorkerSeen[]
  /** Summed over the workers that are present. */
  readonly pagesPerMinute: number
  readonly itemsPerMinute: number
  readonly errorsPerMinute: number
  /** QUEUE_SHARDS when the crawl began; 1 in one process. */
  readonly shards: number
  /** What these hold is missing in `counts` and `done`. */
  readonly silentShards: readonly SilentShard[]
  readonly counts: QueueCounts
  /** Requests that this run has done for good, given up ones too: exact, as each is counted in the step in which it leaves the queue. Null where it is not counted (QUEUE_MODE=job, a run of an earlier release). */
  readonly done: number | null
  /** Summed over all workers, those included that have left. */
  readonly stats: Readonly<Record<string, StatValue>>
  /** A worker was lost, or could not write its last stats: what it had counted since its last heartbeat may be missing in `stats`. */
  readonly statsLack: boolean
  /** When this was read, by Redis's clock. */
  readonly readAt: Moment
  /** Null for a spider that takes none. */
  readonly seeds: SeedsSeen | null
  /** Items that lie where the pipeline `redis` writes them; null when there is nothing. */
  readonly itemsQueued: number | null
  /** One that does not answer says so in its warnings, and its version is ''. What others have, as seeds and items, is null while theirs does not answer. */
  readonly servers: readonly ServerSeen[]
  /** REDIS_HIGH_WATER: above this share of the queue's maxmemory new links wait. 0: they never do. */
  readonly highWater: number
  readonly limit: CrawlLimit
  readonly timeLeft: TimeLeft
}
