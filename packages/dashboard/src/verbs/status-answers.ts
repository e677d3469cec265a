/** How a crawl stands, as schemas: those of `@webloom/core`, whose fields the compiler compares. */

import {
  CRAWL_STATES,
  type CrawlLimit,
  type CrawlStatus,
  type CrawlSummary,
  type CrawlTotals,
  LIMIT_KINDS,
  type QueueCounts,
  type ScaleSeen,
  type SeedsSeen,
  type ServerSeen,
  type SilentShard,
  type SkipSeen,
  type TimeLeft,
  type WorkerCounts,
  type WorkerSeen,
} from '@webloom/core'
import { count, listOf, moment, number, object, oneOf, orNull, recordOf, text, truth } from './schema.ts'

const COUNTS = object<QueueCounts>({
  waiting: count('requests that may go as soon as their host may be asked'),
  delayed: count('requests that are held until their own time has come'),
  leased: count('requests that a worker has'),
  quarantined: count('requests that killed their workers, or that every worker rejected'),
})

const TOTALS = object<CrawlTotals>({
  pages: count(),
  items: count(),
  errors: count(),
  filtered: count('links whose page was seen before'),
  retries: count(),
})

const WORKER_COUNTS = object<WorkerCounts>({
  present: count(),
  lost: count('without a heartbeat for ten seconds'),
  blocked: count('present, with a callback that blocks the event loop'),
})

export const SUMMARY = object<CrawlSummary>(
  {
    id: text('the id that addresses use'),
    spider: text(
      'empty in the entry that stands for all crawls of a server that does not answer and is not known yet',
    ),
    crawlId: orNull(text()),
    server: text('the queue’s Redis, without its password'),
    state: orNull(
      oneOf(CRAWL_STATES, 'null: its server does not answer, `trouble` says why, and all figures are 0'),
    ),
    trouble: text(),
    paused: truth(),
    begunAt: orNull(moment()),
    endedAt: orNull(moment()),
    finishReason: orNull(text()),
    workers: WORKER_COUNTS,
    counts: COUNTS,
    pagesPerMinute: number(),
    itemsPerMinute: number(),
    totals: TOTALS,
  },
  ['trouble'],
)

const WORKER = object<WorkerSeen>({
  id: text(),
  host: text('the machine'),
  pid: count(),
  startedAt: moment(),
  seenAt: moment('its last heartbeat'),
  lost: truth('no heartbeat for ten seconds'),
  downloading: count(),
  scraping: count(),
  scrapingFull: truth(
    'its callbacks work on as many bytes as SCRAPER_SLOT_MAX_ACTIVE_SIZE allows, so it begins no page',
  ),
  stalled: truth('it has nothing to do, but the queue has requests in flight in its name: restart it'),
  waits: text(
    'what it waits for before it takes part in the crawl: “until …”; empty for one that takes part',
  ),
  heldHosts: count('hosts of which it has requests'),
  longestMs: number('the least time that the slowest of these hosts still takes'),
  longestHost: text(),
  suspects: count('requests that may have killed a worker, and that it fetches alone'),
  pages: count(),
  items: count(),
  errors: count(),
  pagesPerMinute: number(),
  itemsPerMinute: number(),
  errorsPerMinute: number(),
  busy: number(
    'the part of its places, or of its event loop, that was in use over the last ten seconds: 1 is all',
  ),
  blocked: truth('a callback blocks its event loop'),
  release: text('version of webloom'),
  loopLagMs: number(),
  rssBytes: count(),
  cpuCores: number('1 is one core'),
})

const SERVER = object<ServerSeen>({
  roles: listOf(text()),
  shown: text('its address, without its password'),
  version: text(),
  maxmemoryPolicy: text(),
  persistence: oneOf(['aof', 'rdb', 'none', 'unknown']),
  usedBytes: count(),
  maxBytes: count('0: no limit'),
  cpuSeconds: number(),
  warnings: listOf(text()),
})

const SEEDS = object<SeedsSeen>({ waiting: count(), inWork: count(), invalid: count() })

const LIMIT = object<CrawlLimit>({
  kind: oneOf(LIMIT_KINDS),
  words: text(),
})

const TIME_LEFT = object<TimeLeft>({
  atLeastMs: orNull(number()),
  atThisRateMs: orNull(number()),
  words: text(),
})

const SILENT_SHARD = object<SilentShard>({ shard: text(), server: text('the server of its slot') })

export const STATUS = object<CrawlStatus>({
  crawl: text('the queue’s name on Redis'),
  mode: oneOf(['turns', 'job'], 'QUEUE_MODE'),
  state: oneOf(CRAWL_STATES),
  paused: truth(),
  flushing: truth('queue and filter are to be emptied'),
  run: orNull(text()),
  begunAt: orNull(moment()),
  endedAt: orNull(moment()),
  finishReason: orNull(text()),
  start: object<CrawlStatus['start']>({ cursor: count(), ended: truth(), worker: orNull(text()) }),
  workers: listOf(WORKER),
  pagesPerMinute: number(),
  itemsPerMinute: number(),
  errorsPerMinute: number(),
  shards: count('QUEUE_SHARDS when the crawl began; 1 in one process'),
  silentShards: listOf(SILENT_SHARD, 'shards that have not answered: their counts are missing'),
  counts: COUNTS,
  done: orNull(
    count('requests done for good in this run, given up ones too: exact; null where it is not counted'),
  ),
  stats: recordOf({}, 'summed over all workers, those included that have left'),
  statsLack: truth('a worker was lost: stats may lack what it had counted since its last heartbeat'),
  readAt: moment(),
  seeds: orNull(SEEDS),
  itemsQueued: orNull(count()),
  servers: listOf(SERVER),
  highWater: number('REDIS_HIGH_WATER'),
  limit: LIMIT,
  timeLeft: TIME_LEFT,
})

export const SCALE = object<ScaleSeen>({
  desired: count('workers that would help, those that are present included'),
  present: count(),
  allowedPerSecond: number(
    'requests that the hosts allow all workers together to begin, over the next minute',
  ),
  perWorkerPerSecond: orNull(number('responses of a worker in full use; null: not known yet')),
  words: text('why as many'),
  readAt: moment(),
})

export const SKIP = object<SkipSeen>({
  reason: text(),
  count: count(),
  words: text('what that is'),
  stats: listOf(object<SkipSeen['stats'][number]>({ stat: text(), count: count() })),
})
