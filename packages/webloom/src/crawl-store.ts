/**
 * Where a crawl is kept: in memory, in a JOBDIR, or on Redis, where other workers share it. Beside `assemble.ts` the file
 * that names concrete queues, and the one that opens connections.
 *
 *                queue              dupefilter                    record, seeds
 *     memory     memory             memory, or one on Redis       forgotten with the process; seeds from Redis
 *     JOBDIR     SQLite             SQLite, or one of the user's  SQLite
 *     Redis      BullMQ             on Redis                      on the queue's Redis
 */

import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import {
  type Crawler,
  type CrawlName,
  type CrawlRecord,
  crawlKey,
  type DupeFilter,
  type OtherWorkers,
  type RequestQueue,
  type SeedSource,
  SettingsError,
  type StartHosts,
  type StatValue,
} from '@webloom/core'
import { HostAddresses } from '@webloom/downloader'
import {
  BullJobQueue,
  CRAWL_LOST,
  CrawlCalls,
  CrawlMember,
  type CrawlRedisKeys,
  crawlRedisKeys,
  HostSlots,
  HostTurnQueue,
  JobDir,
  LockKeeper,
  MemoryCrawlRecord,
  MemoryHostClock,
  MemoryRequestQueue,
  MemoryStartHosts,
  RedisCrawlRecord,
  RedisMemory,
  RedisSeedSource,
  RedisStartHosts,
  type ResolveHost,
  redisHealth,
} from '@webloom/queue'
import type { Empty } from '@webloom/scheduler'
import { isRedisSpider, noteStartHost, type Spider, seedOptionsOf } from '@webloom/spider'
import type { Redis } from 'ioredis'
import type { CrawlFromOutside } from './crawl-from-outside.ts'
import { chooseDupefilter, closeAll, inProcessFilter, openAll } from './open-dupefilter.ts'
import type { RedisServers } from './redis-servers.ts'
import { schedulerWarning } from './scheduler-warning.ts'
import { ScrapyRedisLeftovers } from './scrapy-redis-leftovers.ts'

/** How a process takes part in a crawl that is on Redis. */
export interface Participation {
  /** A finished crawl is begun again: `webloom crawl`, `webloom worker --new`. */
  readonly begins: boolean
  /** One worker of several: what only works in one process is refused. */
  readonly isWorker: boolean
}

/** What the crawl's store asks of the running crawl. */
export interface CrawlControls {
  activity(): { readonly downloading: number; readonly scraping: number }
  pause(): void
  resume(): void
  stop(reason: string): void
}

export interface CrawlStore {
  /** Tells this process from all others of the crawl. */
  readonly workerId: string
  readonly queue: RequestQueue
  /** Which host, domain or address a request is for, as politeness has it. */
  readonly slots: HostSlots
  readonly filter: DupeFilter
  readonly record: CrawlRecord
  /** Another run may go on with the crawl. */
  readonly outlivesRun: boolean
  readonly startHosts: StartHosts
  readonly seeds?: SeedSource
  readonly others?: OtherWorkers
  /**
   * What all processes of a finished crawl have counted: for the one that has left last, and only when all have told it.
   * Absent where there is one process.
   */
  totalsAtEnd?(): Readonly<Record<string, StatValue>> | undefined
  /** Opens connections. Throws WL_REDIS_UNREACHABLE. */
  connect(): Promise<void>
  disconnect(): void
  /** The record is open and the crawl goes on. */
  join(): Promise<void>
  /** Called before anything is queued, with what empties queue and filter, to be called if that is owed. */
  emptyOnOpen(empty: Empty): Promise<void>
  /** The same when this process leaves. */
  emptyOnClose(empty: Empty): Promise<void>
  isNearlyFull(): Promise<boolean>
  /** One line each, for the start banner; connect first. */
  notes(): Promise<string[]>
  /** What to do when the crawl was finished before. */
  readonly howToBeginAnew: string
}

/** The store that the settings ask for. Opens nothing. */
export async function crawlStore(
  crawler: Crawler,
  parts: {
    spider: Spider
    folder: string
    part: Participation
    controls: CrawlControls
    servers: RedisServers
    /** For POLITENESS_GROUP_BY=ip. */
    resolve: ResolveHost
    workerId: string
  },
): Promise<CrawlStore> {
  const { settings } = crawler
  const { spider, folder, part, servers, resolve, workerId } = parts
  const slots = HostSlots.fromCrawler(crawler, resolve)
  const jobDir = JobDir.fromCrawler(crawler, slots, { wakes: isRedisSpider(spider) })
  const queueRedis = jobDir ? undefined : servers.connection('queue')
  if (part.isWorker && !queueRedis)
    throw new SettingsError([
      jobDir
        ? 'JOBDIR keeps a crawl for one process; a worker joins a crawl on Redis. Unset JOBDIR, or use webloom crawl'
        : 'a worker joins a crawl on Redis, and none is named. Set REDIS_URL=redis://host:6379, or use webloom crawl',
    ])
  const inProcess = inProcessFilter(settings)
  if (part.isWorker && inProcess !== undefined)
    throw new SettingsError([
      `DUPEFILTER_CLASS is ${inProcess}, which workers cannot share: each would fetch every page. Use redis-set or another filter on Redis`,
    ])
  const warning = schedulerWarning(settings, queueRedis ? 'redis' : jobDir ? 'jobdir' : 'memory')
  if (warning !== undefined) crawler.logger.warn(warning)
  return queueRedis
    ? redisStore(crawler, { ...parts, slots, queueRedis })
    : localStore(crawler, { spider, folder, servers, slots, jobDir, workerId })
}

/** In memory or in a JOBDIR; the filter alone may be on Redis. */
async function localStore(
  crawler: Crawler,
  {
    spider,
    folder,
    servers,
    slots,
    jobDir,
    workerId,
  }: {
    spider: Spider
    folder: string
    servers: RedisServers
    slots: HostSlots
    jobDir: JobDir | null
    workerId: string
  },
): Promise<CrawlStore> {
  const { settings } = crawler
  const worker = { workerId, queueRunId: async () => '-' }
  const { filter, links } = await chooseDupefilter(crawler, {
    folder,
    // The queue ends with this process, and with it the crawl.
    crawl: () => `${spider.name} ${worker.workerId}`,
    ...(jobDir && { jobDirFilter: jobDir.filter }),
  })
  const startHosts = jobDir?.startHosts ?? new MemoryStartHosts()
  const seeds = seedSource(crawler, { spider, servers, startHosts }, worker)
  // What is in memory or in a JOBDIR goes or stays by itself.
  const empties = (setting: boolean) => async (empty: Empty) => {
    if (links.length > 0 && setting) await empty(false)
  }
  return {
    workerId: worker.workerId,
    slots,
    queue: jobDir?.queue ?? MemoryRequestQueue.fromCrawler(crawler, slots),
    filter,
    record: jobDir?.record ?? new MemoryCrawlRecord(),
    outlivesRun: jobDir !== null,
    startHosts,
    ...(seeds && { seeds }),
    connect: async () => {
      await Promise.all([servers.open(), openAll(links)])
    },
    disconnect() {
      servers.close()
      closeAll(links)
    },
    join: async () => seeds?.open(),
    emptyOnOpen: async (empty) => {
      await empties(settings.getBool('SCHEDULER_FLUSH_ON_START'))(empty)
      await filter.joined?.(false)
    },
    emptyOnClose: async (empty) => {
      await seeds?.close()
      await empties(!settings.getBool('SCHEDULER_PERSIST'))(empty)
      await filter.crawlEnded?.()
    },
    isNearlyFull: async () => false,
    notes: async () => [
      ...(seeds && !jobDir
        ? ['the queue is in this process: start URLs that it has taken from Redis die with it']
        : []),
      ...(links.length > 0 && !jobDir
        ? [
            'the queue is in this process; Redis has only the requests met. After a crash begin with SCHEDULER_FLUSH_ON_START=true',
          ]
        : []),
    ],
    howToBeginAnew: `Remove the folder ${settings.get('JOBDIR')} or choose another JOBDIR to crawl anew; without its webloom.sqlite alone, what was met (requests.seen) is not fetched again`,
  }
}

interface RedisStoreParts {
  readonly spider: Spider
  readonly folder: string
  readonly part: Participation
  readonly controls: CrawlControls
  readonly servers: RedisServers
  readonly slots: HostSlots
  readonly queueRedis: Redis
  readonly workerId: string
}

/** On Redis, shared with other workers. */
async function redisStore(
  crawler: Crawler,
  { spider, folder, part, controls, servers, slots, queueRedis, workerId }: RedisStoreParts,
): Promise<CrawlStore> {
  const { settings, stats, logger } = crawler
  const times = crawler.times && { times: crawler.times }
  const name: CrawlName = { spider: spider.name, crawlId: settings.get('CRAWL_ID') }
  const keys = crawlRedisKeys(name)
  const queueRunId = () => runIdOf(queueRedis)
  const { filter, links } = await chooseDupefilter(crawler, {
    folder,
    queueRunId,
    crawl: () => record.runName,
  })
  const calls = new CrawlCalls({ redis: queueRedis, keys })
  const keeper = LockKeeper.fromCrawler(crawler, servers.targets('queue')[0]!.options)
  const queue = requestQueue(crawler, { redis: queueRedis, keys, workerId, keeper, calls, slots })
  const leftovers = new ScrapyRedisLeftovers({ redis: queueRedis, spider: spider.name, settings, logger })
  const record = new RedisCrawlRecord({
    redis: queueRedis,
    keys,
    workerId,
    keeper,
    begins: part.begins,
    wakes: isRedisSpider(spider),
    persists: settings.getBool('SCHEDULER_PERSIST'),
    flushes: settings.getBool('SCHEDULER_FLUSH_ON_START'),
    requestsElsewhere: () => leftovers.count(),
    logger,
    ...times,
  })
  const member = new CrawlMember({
    redis: queueRedis,
    keys,
    calls,
    statsKey: crawlKey(settings.getString('STATS_KEY'), name),
    workerId,
    keeper,
    stats,
    logger,
    ...times,
    activity: () => controls.activity(),
    onPause: () => controls.pause(),
    onResume: () => controls.resume(),
    onStop: (reason) => {
      if (reason === CRAWL_LOST) logger.error(crawlLostText(name, servers.targets('queue')[0]!.shown))
      controls.stop(reason)
    },
  })
  const memory = new RedisMemory({ redis: queueRedis, ...times })
  const highWater = settings.getFloat('REDIS_HIGH_WATER')
  const startHosts = new RedisStartHosts({ redis: queueRedis, keys })
  const emptyAll = (empty: Empty) => async (keepsMet: boolean) => {
    await startHosts.clear()
    if (!keepsMet) await record.noteFilter(false)
    await empty(keepsMet)
  }
  const seeds = seedSource(crawler, { spider, servers, startHosts }, { workerId, queueRunId })
  let totalsAtEnd: Record<string, StatValue> | undefined
  return {
    workerId,
    slots,
    queue,
    filter,
    record,
    outlivesRun: true,
    startHosts,
    others: member,
    totalsAtEnd: () => totalsAtEnd,
    ...(seeds && { seeds }),
    connect: async () => {
      await Promise.all([servers.open(), openAll(links)])
    },
    disconnect() {
      keeper.close()
      calls.close()
      servers.close()
      closeAll(links)
    },
    join: async () => {
      await leftovers.tell()
      await calls.open()
      await member.open(record.run)
      await seeds?.open()
    },
    emptyOnOpen: async (empty) => {
      await record.flushOnce(async (keepsMet) => {
        if (keepsMet && settings.getBool('SCHEDULER_PERSIST')) logger.info(MET_STAYS)
        await emptyAll(empty)(keepsMet)
      })
      await filter.joined?.(await record.isFilterJoined())
      await record.noteFilter(true)
    },
    emptyOnClose: async (empty) => {
      await seeds?.close()
      await member.close()
      const { flush, last } = await record.leave()
      const ended = last && (await record.finish())
      // Each worker writes its stats before it leaves, so that the last one reads those of all.
      if (ended === true) totalsAtEnd = await member.totalsAtEnd()
      if (flush) await record.flushOnce(emptyAll(empty))
      // One that ends as requests_left only stops: what it has in the filter is for whoever goes on with it.
      else if (ended === true) {
        await record.noteFilter(false)
        await filter.crawlEnded?.()
      }
    },
    isNearlyFull: async () => highWater > 0 && memory.isAbove(highWater),
    notes: async () => {
      const { shown } = servers.targets('queue')[0]!
      const filterServers =
        links.length === 0 ? [] : servers.targets('dupefilter').map((target) => target.shown)
      return [
        `crawl ${keys.queueName} on ${shown}, worker ${workerId}`,
        ...(await healthNotes('queue', queueRedis)),
        ...(links.length > 1 ? [`the dupefilter is spread over ${filterServers.join(', ')}`] : []),
        ...(
          await Promise.all(
            links
              .filter((_link, n) => filterServers[n] !== shown)
              .map((link) => healthNotes('dupefilter', link.client)),
          )
        ).flat(),
      ]
    },
    howToBeginAnew: 'Begin a new one with webloom crawl, webloom worker --new, or another CRAWL_ID',
  }
}

/**
 * Queue and filter of a crawl on Redis, for a command that takes no part in it.
 *
 * @param runName for one that brings it requests: the run that they are of, when the filter is joined
 */
export async function withQueueAndFilter<T>(
  { crawler, redis, keys, folder }: CrawlFromOutside,
  act: (queue: RequestQueue, filter: DupeFilter) => Promise<T>,
  runName = () => '',
): Promise<T> {
  const place = { folder, queueRunId: () => runIdOf(redis), crawl: runName }
  const { filter, links } = await chooseDupefilter(crawler, place)
  const addresses = HostAddresses.fromCrawler(crawler)
  const slots = HostSlots.fromCrawler(crawler, (hostname) => addresses.of(hostname))
  const queue = requestQueue(crawler, { redis, keys, workerId: newWorkerId(), slots })
  try {
    await openAll(links)
    return await act(queue, filter)
  } finally {
    await queue.close()
    closeAll(links)
  }
}

function requestQueue(
  crawler: Crawler,
  parts: {
    redis: Redis
    keys: CrawlRedisKeys
    workerId: string
    keeper?: LockKeeper
    calls?: CrawlCalls
    slots: HostSlots
  },
): RequestQueue {
  const { settings, logger, times } = crawler
  return settings.get('QUEUE_MODE') === 'job'
    ? new BullJobQueue({
        ...parts,
        clock: MemoryHostClock.fromCrawler(crawler),
        order: settings.get('SCHEDULER_QUEUE_CLASS'),
        concurrency: settings.getInt('CONCURRENT_REQUESTS'),
        quarantineAfter: settings.getInt('QUARANTINE_AFTER'),
        ...(times && { times }),
        logger,
      })
    : HostTurnQueue.fromCrawler(crawler, parts)
}

/** Undefined for a spider that takes no start URLs from Redis. */
function seedSource(
  { settings, stats, logger, times }: Crawler,
  { spider, servers, startHosts }: { spider: Spider; servers: RedisServers; startHosts: StartHosts },
  worker: { workerId: string; queueRunId: () => Promise<string> },
): RedisSeedSource | undefined {
  if (!isRedisSpider(spider)) return undefined
  const redis = servers.connection('seeds')
  if (!redis)
    throw new SettingsError([
      `${spider.name} takes its start URLs from Redis, and none is named. Set REDIS_URL=redis://host:6379, or SEEDS_REDIS_URL`,
    ])
  const options = seedOptionsOf(spider, settings)
  const makeRequests = async (data: string) => {
    const requests = await options.makeRequests(data)
    if (settings.getBool('SEEDS_TRUSTED'))
      for (const request of requests) await noteStartHost(startHosts, request)
    return requests
  }
  return new RedisSeedSource({
    redis,
    ...options,
    makeRequests,
    ...worker,
    stats,
    logger,
    ...(times && { times }),
  })
}

const MET_STAYS =
  'a new crawl begins; what the last one met stays met (SCHEDULER_PERSIST), and is not fetched again. SCHEDULER_FLUSH_ON_START=true or webloom clear forget it'

/** What happened, what is lost, what to do. */
function crawlLostText({ spider, crawlId }: CrawlName, redis: string): string {
  const crawl = crawlId === null ? spider : `${spider} -s CRAWL_ID=${crawlId}`
  return `the crawl is gone from Redis at ${redis}, and nobody cleared it: that Redis was emptied (FLUSHALL), restarted without its data (appendonly no), or its keys were deleted or evicted. All that was queued there is lost; items that are written stay. This worker ends with crawl_lost, exit code 1. The dupefilter may still know the pages that were queued, and would keep them out: to crawl again, webloom clear ${crawl}, then webloom worker ${crawl}. Against the next time: appendonly yes and maxmemory-policy noeviction`
}

async function healthNotes(role: string, redis: Redis): Promise<string[]> {
  const { warnings } = await redisHealth(redis)
  return warnings.map((warning) => `the ${role}’s Redis: ${warning}`)
}

/** Tells this process from all others of a crawl. */
export function newWorkerId(): string {
  return `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`
}

/** Another one after each start of that server. */
async function runIdOf(redis: Redis): Promise<string> {
  return /^run_id:(\S+)/m.exec(await redis.info('server'))?.[1] ?? '-'
}
