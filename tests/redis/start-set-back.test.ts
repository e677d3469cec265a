/** Redis comes back with an older state while, or after, start() has brought something. Nothing of it is lost. */

import {
  type CrawlRecord,
  createFingerprinter,
  MemoryStatsCollector,
  Request,
  Response,
  Signals,
  scaledTimes,
  silentLogger,
} from '@webloom/core'
import { RedisSetDupeFilter } from '@webloom/dupefilter'
import { BucketQueue, BullJobQueue, crawlRedisKeys, MemoryHostClock, RedisCrawlRecord } from '@webloom/queue'
import { Scheduler } from '@webloom/scheduler'
import { Engine, type EngineScheduler, Scraper, Spider } from '@webloom/spider'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ItemProcessor } from '../../packages/spider/src/scraping/item-processor.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis({ appendonly: 'always' })
})
afterAll(() => server.stop())

const TIMES = scaledTimes(0.2)
const PACE = { delayMs: 0, concurrency: 8, randomize: false }
const POLL = { interval: 10 }

type Elements = () => AsyncGenerator<Request | { item: object }>

/** One worker's crawl; `around` is given its scheduler, and may put itself around it. */
async function begun(mode: string, elements: Elements, options: Options = {}) {
  const { stays = false, around = (scheduler) => scheduler } = options
  const redis = new Redis(server.url, { maxRetriesPerRequest: null, retryStrategy: () => 20 })
  redis.on('error', () => {})
  const keys = crawlRedisKeys({ spider: `${mode}${stays}`, crawlId: null })
  const common = { redis, keys, workerId: 'test:1:a', times: TIMES }
  const record = new RedisCrawlRecord({ ...common, begins: true, persists: true })
  await record.open()
  const queue =
    mode === 'turns'
      ? new BucketQueue({ ...common, hosts: { pace: () => PACE } })
      : new BullJobQueue({ ...common, clock: new MemoryHostClock({ pace: PACE }) })
  const spider = new (class extends Spider {
    override readonly name = mode
    override start = elements as Spider['start']
    override async *parse() {}
  })()
  const told = {
    stats: new MemoryStatsCollector(),
    signals: new Signals(() => {}),
    logger: silentLogger,
    spider,
    times: TIMES,
  }
  const scheduler = new Scheduler({
    ...told,
    filter: new RedisSetDupeFilter({ redis, key: `${mode}:dupefilter` }),
    queue,
    fingerprinter: createFingerprinter(),
  })
  const fetched: string[] = []
  const fetch = async (request: Request, { onStart }: { onStart: () => void }) => {
    onStart()
    fetched.push(new URL(request.url).pathname.slice(1))
    return new Response(request.url, { request })
  }
  const engine = new Engine({
    ...told,
    scheduler: around(scheduler),
    record: record as CrawlRecord,
    downloader: { fetch, close: async () => {} },
    scraper: new Scraper({ ...told, middlewares: [], admits: () => true, outputMax: 100 }),
    items: new ItemProcessor({ ...told, pipelines: [], feeds: [], concurrency: 1, dropLogLevel: 'INFO' }),
    bounds: {
      idleMsBeforeFinish: stays ? Number.POSITIVE_INFINITY : 0,
      downloadsMax: 8,
      scrapingBytesMax: 1e6,
      startLowWater: 1000,
      startAheadMax: 0,
      componentTimeoutMs: 5000,
      shutdownGraceMs: 100,
    },
  })
  const ended = engine.run().finally(() => redis.disconnect())
  return { engine, ended, fetched, redis, keys }
}

interface Options {
  readonly stays?: boolean
  readonly around?: (scheduler: Scheduler) => EngineScheduler
}

const names = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => String(from + n))

async function* requests(from: number, to: number) {
  for (const name of names(from, to)) yield new Request(`http://h.test/${name}`)
}

/** Redis forgets the second batch as soon as it has answered that it has it. */
const forgetsSecond = (scheduler: Scheduler): EngineScheduler => {
  let batches = 0
  const enqueueStarts = async (elements: readonly (Request | undefined)[], from: number) => {
    const forgets = ++batches === 2
    if (forgets) await server.remember()
    const added = await scheduler.enqueueStarts(elements, from)
    if (forgets) await server.setBack()
    return added
  }
  return new Proxy(scheduler, {
    get: (target, name) => {
      if (name === 'enqueueStarts') return enqueueStarts
      const found: unknown = Reflect.get(target, name)
      return typeof found === 'function' ? found.bind(target) : found
    },
  })
}

test.each(['turns', 'job'])(
  'QUEUE_MODE=%s: a batch of start() that Redis has answered and lost is brought again',
  async (mode) => {
    const second = Promise.withResolvers<void>()
    let isFirst = true
    const { ended, fetched } = await begun(
      mode,
      async function* () {
        yield* requests(0, 5)
        // So that what follows is a batch of its own, the first time.
        if (isFirst) setTimeout(second.resolve, 100)
        isFirst = false
        await second.promise
        yield* requests(5, 25)
      },
      { around: forgetsSecond },
    )
    expect(await ended).toBe('finished')
    expect([...new Set(fetched)].sort()).toEqual(names(0, 25).sort())
  },
)

test('a worker that stays runs start() on when Redis goes back to before its end, and start() is at its end', async () => {
  const { engine, ended, fetched, redis, keys } = await begun('turns', () => requests(0, 4), { stays: true })
  await vi.waitFor(async () => expect(await redis.hget(keys.record, 'startEnded')).toBe('1'), POLL)
  await vi.waitFor(() => expect(fetched).toHaveLength(4), POLL)
  // What a Redis has that is set back to before the last two elements.
  await redis.del('turns:dupefilter')
  await redis.hset(keys.record, 'startCursor', 2)
  await redis.hdel(keys.record, 'startEnded')
  await vi.waitFor(async () => expect(await redis.hget(keys.record, 'startEnded')).toBe('1'), POLL)
  await vi.waitFor(() => expect(fetched.slice(4).sort()).toEqual(['2', '3']), POLL)
  engine.stop('shutdown')
  expect(await ended).toBe('shutdown')
})
