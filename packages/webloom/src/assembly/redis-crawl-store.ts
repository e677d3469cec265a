/** The store of a crawl that is on Redis, where other workers share it. Names concrete queues, as crawl-store.ts does. */

import {
  askMasters,
  type Crawler,
  type CrawlRun,
  crawlKey,
  crawlNameOf,
  type DupeFilter,
  type Logger,
  persistsOf,
  type RequestQueue,
  settingsTold,
} from '@webloom/core'
import { HostAddresses } from '@webloom/downloader'
import {
  BucketQueue,
  BullJobQueue,
  CRAWL_LOST,
  CrawlChannel,
  CrawlEnding,
  CrawlHistory,
  type CrawlRedisKeys,
  clearFormerShards,
  crawlRedisKeys,
  crawlShown,
  type FilterNoted,
  failureBounds,
  HostSlots,
  keepSettings,
  LockKeeper,
  lostRunFor,
  MemoryHostClock,
  noteCrawl,
  notedFilterOf,
  PresentWorkers,
  QueueRun,
  RedisBudgetBook,
  RedisCrawlRecord,
  RedisMemory,
  RedisPageForms,
  RedisRunLog,
  RedisStartHosts,
  RedisVisitRecords,
  readHostOrders,
  redisHealth,
  ShardedQueue,
  shardCount,
  staleTooSoon,
  type WholeTotals,
  WorkerHeartbeat,
} from '@webloom/queue'
import { isRedisSpider, type Spider, seedOptionsOf } from '@webloom/spider'
import type { Redis } from 'ioredis'
import { crawlLostText, lostBefore, lostCrawlOf, shardLost } from '../outcome/crawl-lost-text.ts'
import { comparedNote, crawlsFilter, filterNote, settingsAsNoted } from '../redis/filter-note.ts'
import type { RedisServers } from '../redis/redis-servers.ts'
import { typedCrawl } from '../redis/typed-crawl.ts'
import { VERSION } from '../version.ts'
import type { CrawlFromOutside } from './crawl-from-outside.ts'
import { seedSource } from './crawl-seeds.ts'
import { chosenFilter } from './open-dupefilter.ts'
import { ScrapyRedisLeftovers } from './scrapy-redis-leftovers.ts'
import type { CrawlControls, CrawlStore, Participation } from './store-port.ts'
import { alikeSettingsOf, partsOnOneServer, shardsAsked, shardsOnOneServer } from './store-settings.ts'
import { newWorkerId } from './worker-id.ts'

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

/** Makes the store on Redis, shared with other workers. */
export async function redisStore(
  crawler: Crawler,
  { spider, folder, part, controls, servers, slots, queueRedis, workerId }: RedisStoreParts,
): Promise<CrawlStore> {
  const { settings, stats, logger, hostLists } = crawler
  const times = crawler.times && { times: crawler.times }
  const name = crawlNameOf(settings, spider.name)
  const keys = crawlRedisKeys(name)
  const shards = shardsAsked(settings)
  const isCluster = servers.targets('queue')[0]!.options.nodes !== undefined
  if (shards > 1 && !isCluster) logger.warn(shardsOnOneServer(shards))
  const queueRun = new QueueRun({ redis: queueRedis, keys, shards })
  const redisRunId = () => queueRun.id()
  const keptRunId = () => queueRun.keptId()
  const run: CrawlRun = {
    name: () => record.runName,
    redisRunId,
    keptRunId,
    onQueueBack: (listener) => void queueRedis.on('ready', listener),
  }
  const [persists, alike] = [persistsOf(settings), alikeSettingsOf(settings)]
  const flushes = settings.getBool('SCHEDULER_FLUSH_ON_START')
  const chosen = await chosenFilter({ ...crawler, run }, { folder, servers })
  const { filter } = chosen
  const typed = typedCrawl(spider, settings)
  const filterServers = servers.targets('dupefilter').map((target) => target.shown)
  const note = filterNote({ settings, spider }, chosen)
  const ownFilter = crawlsFilter(keys, { note, typed }, filterServers)
  const filterRedis = servers.used('dupefilter')
  const lostCrawl = lostCrawlOf(spider, settings, servers.targets('queue')[0]!.shown)
  const filterParts = filterRedis.length === 1 ? settings.getInt('DUPEFILTER_SHARDS') : 1
  if (filterParts > 1 && servers.targets('dupefilter')[0]!.options.nodes === undefined)
    logger.warn(partsOnOneServer(filterParts))
  const channel = new CrawlChannel({ redis: queueRedis, keys })
  const keeper = LockKeeper.fromCrawler(crawler, servers.targets('queue')[0]!.options)
  const mayDoubt = () => heartbeat.mayDoubt
  const parts = { redis: queueRedis, keys, workerId, keeper, channel, slots }
  const sharded = shards > 1 ? ShardedQueue.fromCrawler(crawler, { ...parts, shards, mayDoubt }) : undefined
  const present = isCluster && !sharded ? new PresentWorkers({ redis: queueRedis, keys }) : undefined
  const workers = present && { workers: () => present.count }
  const queue = sharded ?? requestQueue(crawler, { ...parts, mayDoubt, ...workers })
  const leftovers = new ScrapyRedisLeftovers({ redis: queueRedis, spider, settings, logger })
  const record = new RedisCrawlRecord({
    redis: queueRedis,
    keys,
    workerId,
    keeper,
    begins: part.begins,
    wakes: isRedisSpider(spider),
    persists,
    flushes,
    ...(sharded && { shards, isOver: () => sharded.isOver() }),
    typed,
    mode: settings.get('QUEUE_MODE'),
    ...{ filter: ownFilter, alike },
    lostRun: (waiting) =>
      lostRunFor({
        ...{ ...parts, ...waiting, shards, persists, flushes, logger, ...times },
        refusal: () => shardLost(lostCrawl),
      }),
    requestsElsewhere: () => leftovers.count(),
    mayStart: () => heartbeat.mayStart,
    logger,
    ...times,
  })
  const statsKey = crawlKey(settings.getString('STATS_KEY'), name)
  const hours = settings.getFloat('HISTORY_HOURS')
  const history = new CrawlHistory({ redis: queueRedis, keys, statsKey, hours, logger })
  let look: (() => Promise<void>) | undefined
  const heartbeat = new WorkerHeartbeat({
    redis: queueRedis,
    keys,
    channel,
    statsKey,
    ...{ workerId, keeper, stats, alike, logger },
    ...times,
    tells: {
      activity: () => ({ ...controls.activity(), waits: ending.waits ?? '' }),
      concurrency: settings.getInt('CONCURRENT_REQUESTS'),
      held: queue.held?.bind(queue),
      ...(hostLists && { hostLists: () => hostLists.now() }),
      filterPlace: () => ending.filterPlace,
      release: VERSION,
    },
    obeys: {
      onPause: () => controls.pause(),
      onResume: () => controls.resume(),
      onStop: (reason) => {
        if (reason === CRAWL_LOST) ending.lost(crawlLostText(lostCrawl))
        controls.stop(reason)
      },
      onOrders: async () => queue.steer(await readHostOrders({ redis: queueRedis, keys })),
      onSampleDue: async () => {
        await history.sample()
        await look?.()
      },
    },
  })
  const memory = new RedisMemory({ redis: queueRedis, key: sharded ? undefined : keys.record, ...times })
  const highWater = settings.getFloat('REDIS_HIGH_WATER')
  const startHosts = new RedisStartHosts({ redis: queueRedis, keys, logger })
  const pageForms = new RedisPageForms({ redis: queueRedis, keys })
  const ending = new CrawlEnding({
    redis: queueRedis,
    keys,
    workerId,
    record,
    queue,
    filter,
    startHosts,
    pageForms,
    otherPlace: ownFilter.otherPlace,
    leftBehind: ownFilter.leftBehind,
    lostBefore: (besides) => lostBefore(lostCrawl, besides, keys.queueName),
    persists,
    flushes,
    comesBack: settings.get('RECRAWL') !== 'off',
    ...(sharded && { tellShards: () => sharded.tellShards() }),
    clearFormerShards: () => clearFormerShards(queueRedis, keys, shards),
    logger,
    ...times,
  })
  const seeds = seedSource(crawler, { spider, startHosts }, { workerId, redisRunId, keptRunId, queue })
  let totalsAtEnd: WholeTotals | undefined
  return {
    workerId,
    slots,
    queue,
    filter,
    isInProcess: false,
    record,
    run,
    outlivesRun: true,
    startHosts,
    pageForms,
    budgetBook: (limits, terms) => new RedisBudgetBook({ redis: queueRedis, keys, limits, terms }),
    others: heartbeat,
    runLog: new RedisRunLog({ redis: queueRedis, keys, statsKey, joined: () => record.run, logger }),
    totalsAtEnd: () => totalsAtEnd,
    ...(seeds && { seeds }),
    silentServer: async () => (heartbeat.isAnswered ? servers.silent() : servers.targets('queue')[0]!.shown),
    watch: (looks) => {
      look = looks
    },
    connect: () => servers.open({ forWriting: true }),
    disconnect() {
      keeper.close()
      channel.close()
      servers.close()
    },
    join: async () => {
      await leftovers.tell()
      await channel.open()
      await heartbeat.open(record.run)
      await present?.open()
      const noting = noteCrawl(queueRedis, { ...name, statsKey, release: VERSION })
      const seedKey = isRedisSpider(spider) ? seedOptionsOf(spider, settings).key : null
      const telling = keepSettings(queueRedis, keys, { seedKey, settings: settingsTold(settings) })
      await noted(Promise.all([noting, telling]), logger)
      await seeds?.open()
    },
    visitsKept: async () => {
      const visits = new RedisVisitRecords({ redis: queueRedis, keys })
      return (await visits.totals()).pages
    },
    onOpen: (signal) => ending.enter(signal),
    waits: () => record.waits ?? ending.waits,
    onClose: async () => {
      await seeds?.close()
      present?.close()
      await heartbeat.close()
      const { last, finished, owes } = await record.leave()
      if (last) await history.ended()
      // Each worker writes its stats before it leaves, so that the last one reads those of all.
      if (finished) totalsAtEnd = await heartbeat.totalsAtEnd()
      if (owes) await ending.tidy()
    },
    isNearlyFull: async () => highWater > 0 && memory.isAbove(highWater),
    notes: async () => {
      const { shown } = servers.targets('queue')[0]!
      return [
        `${crawlShown(keys)} on ${shown}, worker ${workerId}`,
        ...(await healthNotes('queue', queueRedis, crawler)),
        ...(sharded ? [`the queue is in ${shards} shards`] : []),
        ...(filterRedis.length > 1 ? [`the dupefilter is spread over ${filterServers.join(', ')}`] : []),
        ...(filterParts > 1 ? [`the dupefilter is in ${filterParts} parts`] : []),
        ...(
          await Promise.all(
            filterRedis
              .filter((_redis, n) => filterServers[n] !== shown)
              .map((redis) => healthNotes('dupefilter', redis, crawler)),
          )
        ).flat(),
      ]
    },
    howToBeginAnew: 'Begin a new one with webloom crawl, webloom worker --new, or another CRAWL_ID',
  }
}

/** For a command that brings a crawl requests. */
export interface ShardsOfCrawl {
  readonly count: number
  /** The crawl's dupefilter, as its record notes it. */
  readonly filter: FilterNoted
  /** Tells them of the crawl's run; absent with one. */
  readonly tell?: () => Promise<void>
}

/**
 * Queue and filter of a crawl on Redis, for a command that takes no part in it.
 *
 * @param runName for one that brings it requests: the run that they are of, when the filter is joined
 */
export async function withQueueAndFilter<T>(
  { crawler: written, servers, redis, keys, folder }: CrawlFromOutside,
  act: (queue: RequestQueue, filter: DupeFilter, shards: ShardsOfCrawl) => Promise<T>,
  runName = () => '',
): Promise<T> {
  const noted = await notedFilterOf({ redis, keys })
  const settings = settingsAsNoted(written.settings, noted)
  const crawler = { ...written, settings }
  const shards = await shardsOf({ crawler, redis, keys })
  // An asker is settled for the same run as by the crawl's workers.
  const queueRun = new QueueRun({ redis, keys, shards })
  const run: CrawlRun = {
    name: runName,
    redisRunId: () => queueRun.id(),
    keptRunId: () => queueRun.keptId(),
  }
  const chosen = await chosenFilter({ ...crawler, run }, { folder, servers })
  const { filter } = chosen
  const addresses = HostAddresses.fromCrawler(crawler)
  const slots = HostSlots.fromCrawler(crawler, (hostname) => addresses.of(hostname))
  const parts = { redis, keys, workerId: newWorkerId(), slots }
  const sharded =
    shards > 1
      ? ShardedQueue.fromCrawler(crawler, { ...parts, shards, channel: new CrawlChannel({ redis, keys }) })
      : undefined
  const queue = sharded ?? requestQueue(crawler, parts)
  try {
    // The filter may have asked for a connection of its own.
    await servers.open()
    const note = await comparedNote(crawler, chosen, { keys, noted })
    return await act(queue, filter, {
      count: shards,
      filter: note,
      ...(sharded && { tell: () => sharded.tellShards() }),
    })
  } finally {
    await queue.close()
    addresses.close()
  }
}

/** Resolves to how many shards a crawl has, of a command's settings where it has not begun. */
export async function shardsOf({
  crawler,
  redis,
  keys,
}: Pick<CrawlFromOutside, 'crawler' | 'redis' | 'keys'>): Promise<number> {
  const [state, shards] = await redis.hmget(keys.record, 'state', 'shards')
  return state || shards ? shardCount(shards) : shardsAsked(crawler.settings)
}

function requestQueue(
  crawler: Crawler,
  parts: {
    redis: Redis
    keys: CrawlRedisKeys
    workerId: string
    keeper?: LockKeeper
    channel?: CrawlChannel
    slots: HostSlots
    mayDoubt?: () => boolean
    workers?: () => number
  },
): RequestQueue {
  const { settings, logger, times } = crawler
  return settings.get('QUEUE_MODE') === 'job'
    ? new BullJobQueue({
        ...parts,
        clock: MemoryHostClock.fromCrawler(crawler),
        order: settings.get('SCHEDULER_QUEUE_CLASS'),
        concurrency: settings.getInt('CONCURRENT_REQUESTS'),
        givingUp: { quarantineAfter: settings.getInt('QUARANTINE_AFTER'), ...failureBounds(crawler) },
        ...(times && { times }),
        logger,
      })
    : BucketQueue.fromCrawler(crawler, parts)
}

/** What may lose queued requests in the middle of a crawl is no note but a warning. */
async function healthNotes(
  role: string,
  redis: Redis,
  { logger, settings }: Pick<Crawler, 'logger' | 'settings'>,
): Promise<string[]> {
  // Those of a cluster are set up alike, and what all say is told once.
  const all = await askMasters(redis, redisHealth, settings.getMs('REDIS_START_TIMEOUT'))
  const told = (warning: string) => `the ${role}’s Redis: ${warning}`
  for (const eviction of new Set(all.flatMap((one) => one.eviction ?? []))) logger.warn(told(eviction))
  const staleMs = settings.getMs('DUPEFILTER_PENDING_STALE')
  return [
    ...new Set(
      all.flatMap((one) => [
        ...one.warnings.filter((warning) => warning !== one.eviction),
        ...[staleTooSoon(one, staleMs)].filter((line) => line !== undefined),
      ]),
    ),
  ].map(told)
}

/** A crawl without this note runs as well, but a dashboard must be told its name. */
async function noted(noting: Promise<unknown>, logger: Logger): Promise<void> {
  await noting.catch((err: unknown) =>
    logger.warn(
      { err },
      'this crawl or its settings cannot be noted on Redis, so a dashboard does not find it by itself',
    ),
  )
}
