import { scaledTimes, silentLogger } from '@webloom/core'
import type { Redis } from 'ioredis'
import { CrawlEnding } from '../src/crawl/crawl-ending.ts'
import type { RedisCrawlRecordOptions } from '../src/crawl/redis-crawl-record.ts'
import type { CrawlRedisKeys } from '../src/redis/crawl-redis-keys.ts'
import type { CrawlBench } from './crawl-bench.ts'

const forEver = new Promise<void>(() => {})
export const ENDING_TIMES = scaledTimes(0.05)
/** What is emptied at the end of a crawl. */
export const EMPTIED = ['start hosts', 'queue', 'filter']

/** What the filter knows of an earlier crawl of the name, and whether that and this one are all that use it. */
export interface LostBefore {
  isKnown: boolean
  readonly isAlone: boolean
  /** False: no worker lived to note it. Until it is found silent, it may be another that uses the filter. */
  isNoted?: boolean
  /** It is not known yet whether it is over. */
  isAwaited?: boolean
  onWait?: () => void
  /** How often it was asked about. */
  looks?: number
}

/** Makes a worker whose queue, filter and start hosts tell what is done to them; it dies at that step, if one is given. */
export function endingWorker(
  bench: CrawlBench,
  keys: CrawlRedisKeys,
  options: Partial<RedisCrawlRecordOptions> & {
    dies?: string
    comesBack?: boolean
    lost?: LostBefore
    place?: string
  } = {},
) {
  const { dies, comesBack = false, lost, place, ...more } = options
  const redis: Redis = bench.connect()
  const workerId = bench.nextWorker()
  const record = bench.record(keys, { redis, workerId, times: ENDING_TIMES, ...more })
  const steps: string[] = []
  const lines: string[] = []
  const step = (name: string) => () => {
    if (name === dies) {
      redis.disconnect()
      return forEver
    }
    steps.push(name)
    return Promise.resolve()
  }
  const ending = new CrawlEnding({
    redis,
    keys,
    workerId,
    record,
    startHosts: { clear: step('start hosts') },
    pageForms: { clear: async () => {} },
    queue: {
      clear: step('queue'),
      counts: async () => ({ waiting: 0, delayed: 0, leased: 0, quarantined: 0 }),
    },
    filter: {
      clear: () => {
        if (lost?.isAlone && lost.isNoted !== false) lost.isKnown = false
        return step('filter')()
      },
      knowsLostCrawl: async (signal) => {
        if (lost?.isAwaited)
          return new Promise((_, reject) => {
            lost.onWait?.()
            signal!.addEventListener('abort', () => reject(signal!.reason))
          })
        if (lost) Object.assign(lost, { isNoted: true, looks: (lost.looks ?? 0) + 1 })
        return lost?.isKnown ?? false
      },
      crawlEnded: step('owners'),
      ...(place && { place: async () => place }),
      joined: async (goesOn) => void steps.push(goesOn ? 'joined again' : 'joined'),
    },
    lostBefore: () => new Error('lost before'),
    leftBehind: () => new Error('left behind'),
    otherPlace: () => new Error('other place'),
    times: ENDING_TIMES,
    ...{ persists: more.persists ?? false, flushes: more.flushes ?? false, comesBack },
    logger: {
      ...silentLogger,
      info: (line: unknown) => void lines.push(String(line)),
      warn: (line: unknown) => void lines.push(String(line)),
    },
  })
  /** Resolves when it is done, or the worker is dead. */
  const tidy = () => {
    const dead = new Promise<void>((resolve) => redis.once('end', resolve))
    return Promise.race([ending.tidy(), dead])
  }
  return { record, ending, tidy, steps, lines }
}
