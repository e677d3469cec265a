/** The crawl to which requests are brought from elsewhere: on Redis, or in its JOBDIR. */

import { randomUUID } from 'node:crypto'
import {
  type DupeFilter,
  type FailureLedger,
  type Fingerprinter,
  fingerprinterOf,
  persistsOf,
  type QueuedRequest,
  type RequestQueue,
  UsageError,
} from '@webloom/core'
import { HostAddresses } from '@webloom/downloader'
import {
  type AdoptedCrawl,
  adoptCrawl,
  crawlShown,
  HostSlots,
  JobDir,
  joinedRunOf,
  lostRunOf,
} from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import {
  type CrawlerFromOutside,
  type CrawlFromOutside,
  crawlerFromOutside,
  type OutsideFlags,
  withCrawlFromOutside,
} from '../assembly/crawl-from-outside.ts'
import { type ShardsOfCrawl, withQueueAndFilter } from '../assembly/redis-crawl-store.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { typedSpider } from '../loading/typed-spider.ts'
import { lostCrawlOf, lostTarget } from '../outcome/crawl-lost-text.ts'
import { typedWorkerOf } from '../redis/typed-crawl.ts'
import { commandName, shellQuoted } from '../terminal/resume-line.ts'

export type Adopted = AdoptedCrawl['found']

export interface CrawlTarget {
  readonly crawler: CrawlerFromOutside
  /** For messages. */
  readonly shown: string
  /** What goes on with the crawl; known when it is adopted. */
  readonly goesOnBy: string
  /** Gives requests their ids. */
  readonly fingerprinter: Fingerprinter
  /** Absent for a crawl in a JOBDIR. */
  readonly onRedis?: CrawlFromOutside
  /** Lets the crawl go on, with what it is about to get. */
  adopt(options: { startEnded: boolean }): Promise<Adopted>
  /** Whether what `asker` brings was queued before, by a call that was cut off. */
  isDone(asker: string): Promise<boolean>
  /** Queues requests past the filter, in which they leave their marks; what is pushed again under `asker` adds nothing. */
  push(batch: readonly QueuedRequest[], asker: string): Promise<void>
  /** What `asker` brings is gone where it came from. */
  settled(asker: string): Promise<void>
  /** The requests that were given up. */
  readonly failures: FailureLedger
  /** Marks requests as seen that go back into the queue; call what it resolves to when they are there. */
  mark(requests: readonly QueuedRequest[]): Promise<() => Promise<void>>
  /** Whether the requests seen were deleted when the crawl ended, as far as `adopt` has found. */
  hasForgotten(): boolean
}

/** Less than a crawl is held for: ADOPTED_MS of the queue's package. */
const HELD_MS = 1500
/** How long it is remembered that a part of a file was queued: as long as anybody may try again after a crash. */
const DONE_KEPT_S = 7 * 24 * 3600

export async function withCrawlTarget<T>(
  Class: SpiderClass,
  flags: OutsideFlags,
  config: LoadedConfig,
  act: (target: CrawlTarget) => Promise<T>,
): Promise<T> {
  const crawler = await crawlerFromOutside(Class, flags, config)
  const { settings } = crawler
  if (settings.getBool('SCHEDULER_FLUSH_ON_START'))
    throw new UsageError(
      'WL_USAGE',
      'SCHEDULER_FLUSH_ON_START is true: the next worker would empty the queue before anything of it is crawled. Unset it',
    )
  const jobDir = settings.get('JOBDIR')
  if (jobDir !== null && jobDir !== '') return withJobDir(crawler, act)
  return withCrawlFromOutside(Class, flags, config, (crawl) => withRedisTarget(crawl, act))
}

/** The same for a crawl whose Redis is open already. */
export function withRedisTarget<T>(
  crawl: CrawlFromOutside,
  act: (target: CrawlTarget) => Promise<T>,
): Promise<T> {
  let runName = ''
  const { crawler, shown } = crawl
  const lost = lostCrawlOf(crawler.spider, crawler.settings, shown)
  return withQueueAndFilter(
    crawl,
    async (queue, filter, shards) => {
      await filter.open()
      try {
        const beforeAdopt = async () => {
          const { isJoined, name } = await joinedRunOf(crawl)
          runName = name
          const isLost = (await lostRunOf(crawl.redis, crawl.keys)) !== undefined
          if (isLost || (!isJoined && (await filter.knowsLostCrawl?.())))
            throw lostTarget(lost, persistsOf(crawler.settings))
        }
        const onAdopt = async (run: string) => {
          runName = run
          // As one of the run's workers: they clear away what the import notes there.
          await filter.joined?.(false)
        }
        return await act(targetOnRedis(crawl, { queue, filter, shards, beforeAdopt, onAdopt }))
      } finally {
        await filter.close()
      }
    },
    () => runName,
  )
}

interface Adopting {
  readonly queue: RequestQueue
  readonly filter: DupeFilter
  readonly shards: ShardsOfCrawl
  /** Throws where what was queued before is lost. */
  readonly beforeAdopt: () => Promise<void>
  readonly onAdopt: (runName: string) => Promise<void>
}

function targetOnRedis(
  crawl: CrawlFromOutside,
  { queue, filter, shards, beforeAdopt, onAdopt }: Adopting,
): CrawlTarget {
  const { crawler, redis, keys, shown } = crawl
  const doneKey = `${keys.noted}:imported`
  let [hasForgotten, wasKept] = [false, false]
  const { count, filter: noted, tell } = shards
  const mode = crawler.settings.get('QUEUE_MODE')
  const inShards = { shards: count, mode, filter: noted, ...(tell && { tellShards: tell }) }
  const end = new HeldEnd(async () => {
    if (count > 1) await adoptCrawl(crawl, inShards)
  })
  return {
    crawler,
    shown: `${crawlShown(keys)} on ${shown}`,
    get goesOnBy() {
      return `${commandName()} worker ${typedWorkerOf(crawler.spider, crawler.settings, { isKept: wasKept })}`
    },
    fingerprinter: fingerprinterOf(crawler.settings, 'scrapy'),
    onRedis: crawl,
    async adopt(options) {
      const [emptied, persists] = await redis.hmget(keys.record, 'emptied', 'persists')
      hasForgotten ||= emptied != null
      wasKept = emptied == null && persists === '1'
      await beforeAdopt()
      const { found, runName } = await adoptCrawl(crawl, { ...options, ...inShards })
      end.wasHeld()
      await onAdopt(runName)
      return found
    },
    isDone: async (asker) => (await redis.sismember(doneKey, asker)) === 1,
    async push(batch, asker) {
      await end.hold()
      await pushMarked({ queue, filter }, batch, asker)
      await end.hold()
    },
    async settled(asker) {
      await redis.sadd(doneKey, asker)
      await redis.expire(doneKey, DONE_KEPT_S)
      await filter.settled(asker)
      await queue.settled(asker)
    },
    failures: queue.failures,
    async mark(requests) {
      await end.hold()
      const settle = await marked(filter, requests)
      return async () => {
        await end.hold()
        await settle()
      }
    },
    hasForgotten: () => hasForgotten,
  }
}

/**
 * Keeps a crawl of several shards from ending while something is brought to one of them: whoever looks whether it is over may have seen
 * that shard before. It is held again before and after each part; a crawl that has ended meanwhile goes on.
 */
class HeldEnd {
  readonly #hold: () => Promise<void>
  #heldAt = Number.NEGATIVE_INFINITY

  constructor(hold: () => Promise<void>) {
    this.#hold = hold
  }

  wasHeld(): void {
    this.#heldAt = performance.now()
  }

  async hold(): Promise<void> {
    const now = performance.now()
    if (now - this.#heldAt < HELD_MS) return
    await this.#hold()
    this.#heldAt = now
  }
}

async function withJobDir<T>(
  crawler: CrawlerFromOutside,
  act: (target: CrawlTarget) => Promise<T>,
): Promise<T> {
  const addresses = HostAddresses.fromCrawler(crawler)
  const slots = HostSlots.fromCrawler(crawler, (hostname) => addresses.of(hostname))
  const jobDir = JobDir.fromCrawler(crawler, slots)!
  const { queue, filter, record } = jobDir
  const place = crawler.settings.get('JOBDIR')
  try {
    jobDir.openFrontier()
    return await act({
      crawler,
      shown: `the crawl in ${place}`,
      goesOnBy: `${commandName()} crawl ${typedSpider(crawler.spider)} -s JOBDIR=${shellQuoted(`${place}`)}`,
      fingerprinter: fingerprinterOf(crawler.settings, 'scrapy'),
      async adopt(options) {
        record.reopen(options)
        await filter.open()
        await queue.open()
        return 'resumed'
      },
      isDone: async (asker) => jobDir.isImported(asker),
      push: (batch, asker) => pushMarked({ queue, filter }, batch, asker),
      async settled(asker) {
        await filter.settled(asker)
        await queue.settled(asker)
      },
      failures: queue.failures,
      mark: (requests) => marked(filter, requests),
      hasForgotten: () => false,
    })
  } finally {
    await queue.close()
    await filter.close()
    await record.close()
  }
}

async function pushMarked(
  { queue, filter }: { queue: RequestQueue; filter: DupeFilter },
  batch: readonly QueuedRequest[],
  asker: string,
): Promise<void> {
  // Whoever had them before may have asked about them in this very filter: its answer does not count, its mark does.
  await filter.requestsSeen(
    batch.map(({ request }) => request),
    asker,
  )
  await queue.push(batch, asker)
}

/** Of a page that was forgotten (DUPEFILTER_RELEASE_ON_FAILURE), another one may meet a link meanwhile. */
async function marked(filter: DupeFilter, requests: readonly QueuedRequest[]): Promise<() => Promise<void>> {
  const asker = `failed/${randomUUID()}`
  const noted = requests.map(({ request }) => request).filter(({ dontFilter }) => !dontFilter)
  if (noted.length > 0) await filter.requestsSeen(noted, asker)
  return async () => filter.settled(asker)
}
