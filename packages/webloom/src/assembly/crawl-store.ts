/**
 * Where a crawl is kept: in memory, in a JOBDIR, or on Redis, where other workers share it (redis-crawl-store.ts). Beside
 * `assemble.ts` these two files name concrete queues, and open connections.
 *
 *                queue              dupefilter                    record, seeds
 *     memory     memory             memory, or one on Redis       forgotten with the process; seeds from Redis
 *     JOBDIR     SQLite             SQLite, or one of the user's  SQLite
 *     Redis      BullMQ             on Redis                      on the queue's Redis
 */

import { type Crawler, type CrawlRun, crawlNameOf, SettingsError } from '@webloom/core'
import {
  FileRunLog,
  HostSlots,
  JobDir,
  MemoryBudgetBook,
  MemoryCrawlRecord,
  MemoryPageForms,
  MemoryRequestQueue,
  MemoryStartHosts,
  type ResolveHost,
} from '@webloom/queue'
import { isRedisSpider, type Spider } from '@webloom/spider'
import { runsFolder } from '../outcome/runs-folder.ts'
import type { RedisServers } from '../redis/redis-servers.ts'
import { seedSource } from './crawl-seeds.ts'
import { chooseDupefilter, inProcessFilter } from './open-dupefilter.ts'
import { redisStore } from './redis-crawl-store.ts'
import type { CrawlControls, CrawlStore, Participation } from './store-port.ts'
import { schedulerWarning } from './store-settings.ts'

/** As samples are taken of a crawl on Redis. */
const LOOK_EVERY_MS = 10_000

/** The store that the settings ask for. Opens nothing. */
export async function crawlStore(
  crawler: Crawler,
  parts: {
    spider: Spider
    folder: string
    project: string | undefined
    /** Monitors compare runs with those before. */
    comparesRuns: boolean
    part: Participation
    controls: CrawlControls
    servers: RedisServers
    /** For POLITENESS_GROUP_BY=ip. */
    resolve: ResolveHost
    workerId: string
  },
): Promise<CrawlStore> {
  const { settings } = crawler
  const { spider, folder, project, comparesRuns, part, servers, resolve, workerId } = parts
  const slots = HostSlots.fromCrawler(crawler, resolve)
  const jobDir = JobDir.fromCrawler(crawler, slots, { wakes: isRedisSpider(spider) })
  const queueRedis = jobDir ? undefined : servers.connection('queue')
  if (part.isWorker && !queueRedis)
    throw new SettingsError([
      jobDir
        ? 'JOBDIR keeps a crawl for one process; a worker joins a crawl on Redis. Unset JOBDIR, or use webloom crawl'
        : 'a worker joins a crawl on Redis, and none is named. Set REDIS_URL=redis://host:6379, or use webloom crawl',
    ])
  const inProcess = part.isWorker ? await inProcessFilter(settings, folder) : undefined
  if (inProcess !== undefined)
    throw new SettingsError([
      `DUPEFILTER_CLASS is ${inProcess}, which workers cannot share: each would fetch every page. Use another one, such as  -s DUPEFILTER_CLASS=redis-set  or  -s DUPEFILTER_CLASS=redis-bloom`,
    ])
  const warning = schedulerWarning(settings, queueRedis ? 'redis' : jobDir ? 'jobdir' : 'memory')
  if (warning !== undefined) crawler.logger.warn(warning)
  return queueRedis
    ? redisStore(crawler, { ...parts, slots, queueRedis })
    : localStore(crawler, { spider, folder, project, comparesRuns, servers, slots, jobDir, workerId })
}

/** Makes the store of a crawl whose queue is in memory or in a JOBDIR; the filter alone may be on Redis. */
async function localStore(
  crawler: Crawler,
  {
    spider,
    folder,
    project,
    comparesRuns,
    servers,
    slots,
    jobDir,
    workerId,
  }: {
    spider: Spider
    folder: string
    project: string | undefined
    comparesRuns: boolean
    servers: RedisServers
    slots: HostSlots
    jobDir: JobDir | null
    workerId: string
  },
): Promise<CrawlStore> {
  const { settings } = crawler
  const worker = { workerId, redisRunId: async () => '-' }
  // The queue ends with this process, and with it the crawl.
  const run: CrawlRun = { name: () => `${spider.name} ${worker.workerId}` }
  const filter = await chooseDupefilter(
    { ...crawler, run },
    { folder, servers, ...(jobDir && { jobDirFilter: jobDir.filter }) },
  )
  const isFilterOnRedis = servers.used('dupefilter').length > 0
  const startHosts = jobDir?.startHosts ?? new MemoryStartHosts()
  const queue = jobDir?.queue ?? MemoryRequestQueue.fromCrawler(crawler, slots)
  const seeds = seedSource(crawler, { spider, startHosts }, { ...worker, queue })
  let looking: NodeJS.Timeout | undefined
  let budgetsEnded = () => {}
  const runLog = new FileRunLog({
    folder: runsFolder(settings, crawlNameOf(settings, spider.name), { folder, project }),
    jobDir: settings.get('JOBDIR') ?? undefined,
    stats: crawler.stats,
    logger: crawler.logger,
    isCompared: comparesRuns,
  })
  // What is in memory or in a JOBDIR goes or stays by itself.
  const emptyIf = async (setting: boolean) => {
    if (!isFilterOnRedis || jobDir || !setting) return
    await queue.clear()
    await filter.clear()
  }
  return {
    workerId: worker.workerId,
    slots,
    queue,
    filter,
    isInProcess:
      jobDir !== null ? filter === jobDir.filter : (await inProcessFilter(settings, folder)) !== undefined,
    record: jobDir?.record ?? new MemoryCrawlRecord(),
    run,
    outlivesRun: jobDir !== null,
    startHosts,
    pageForms: jobDir?.pageForms ?? new MemoryPageForms(),
    budgetBook: (limits) => {
      if (!jobDir) return new MemoryBudgetBook(limits)
      const book = jobDir.budgetBook(limits)
      budgetsEnded = () => book.ended()
      return book
    },
    runLog,
    ...(seeds && { seeds }),
    connect: () => servers.open({ forWriting: true }),
    disconnect: () => servers.close(),
    silentServer: () => servers.silent(),
    join: async ({ begun, isNextRun = false }) => {
      await runLog.begin(begun && !isNextRun)
      await seeds?.open()
    },
    watch: (look) => {
      looking = setInterval(() => void look(), LOOK_EVERY_MS).unref()
    },
    ended: async (reason) => {
      clearInterval(looking)
      await runLog.ended(reason)
    },
    visitsKept: async () => (await jobDir?.visits.totals())?.pages ?? 0,
    onOpen: async () => {
      await emptyIf(settings.getBool('SCHEDULER_FLUSH_ON_START'))
      await filter.joined?.(false)
    },
    onClose: async () => {
      await seeds?.close()
      await emptyIf(!settings.getBool('SCHEDULER_PERSIST'))
      await filter.crawlEnded?.()
      budgetsEnded()
    },
    isNearlyFull: async () => false,
    notes: async () => [
      ...(seeds && !jobDir
        ? ['the queue is in this process: start URLs that it has taken from Redis die with it']
        : []),
      ...(isFilterOnRedis && !jobDir
        ? [
            'the queue is in this process; Redis has only the requests seen. After a crash begin with SCHEDULER_FLUSH_ON_START=true',
          ]
        : []),
    ],
    howToBeginAnew: `Remove the folder ${settings.get('JOBDIR')} or choose another JOBDIR to begin a new crawl. If you remove only webloom.sqlite in it, the pages in requests.seen are not fetched again`,
  }
}
