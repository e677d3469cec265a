import type { Logger } from '@webloom/core'
import { MemoryStatsCollector, silentLogger } from '@webloom/core'
import { MachineLag, startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrawlBench, type JoinedWorker, until } from '../../testing/crawl-bench.ts'
import type { CrawlRun } from '../crawl/crawl-run.ts'
import { clearCrawl, pauseCrawl, resumeCrawl, stopCrawl } from '../outside/crawl-control.ts'
import { readCrawl } from '../outside/crawl-view.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { CrawlChannel } from './crawl-channel.ts'
import { TOLD_AT_END, WorkerHeartbeat } from './worker-heartbeat.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start({ appendonly: 'always' }))
afterAll(() => bench.stop())

const totalOf = async (keys: CrawlRedisKeys, stat: string) => (await bench.view(keys)).stats[stat]

/** Until its present stats are in the totals. */
async function leave({ heartbeat, record }: JoinedWorker): Promise<void> {
  await heartbeat.close()
  await record.leave()
}

/** As limits do that hold for all workers together: from now on stats are written every second. */
function asksForStats({ heartbeat }: JoinedWorker): void {
  heartbeat.stat('item_scraped_count')
}

/** What was logged as a warning. */
function warnings(): { readonly logger: Logger; readonly told: string[] } {
  const told: string[] = []
  const warn = (fields: object | string, message?: string) => told.push(message ?? String(fields))
  return { logger: { ...silentLogger, warn }, told }
}

describe('what is asked of a crawl', () => {
  test('reaches every worker at once: pause, resume, stop', async () => {
    const keys = bench.nextKeys()
    const workers = await Promise.all([1, 2, 3].map(() => bench.join(keys)))
    const allHear = async (what: string) => {
      using lag = new MachineLag()
      const askedAt = performance.now()
      await Promise.all(workers.map((worker) => worker.hears(what)))
      // Sooner than the next heartbeat, which comes every three seconds.
      expect(performance.now() - askedAt).toBeLessThan(2000 + lag.ms)
    }
    expect(await pauseCrawl({ redis: bench.redis, keys })).toBe(true)
    await allHear('pause')
    expect(await resumeCrawl({ redis: bench.redis, keys })).toBe(true)
    await allHear('resume')
    expect(await stopCrawl({ redis: bench.redis, keys }, 'enough')).toBe(true)
    await allHear('stop: enough')
    for (const worker of workers) expect(worker.told).toEqual(['pause', 'resume', 'stop: enough'])
  })

  test('is learned when the connection that listens is back, and without one with the next heartbeat', async () => {
    const keys = bench.nextKeys()
    const deaf = await bench.join(keys, { channel: new CrawlChannel({ redis: bench.redis, keys }) })
    const cut = await bench.join(keys)
    await bench.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    using lag = new MachineLag()
    const askedAt = performance.now()
    await pauseCrawl({ redis: bench.redis, keys })
    await cut.hears('pause')
    expect(performance.now() - askedAt).toBeLessThan(2500 + lag.ms)
    await deaf.hears('pause')
    expect(performance.now() - askedAt).toBeLessThan(6000 + lag.ms)
  })

  test('is known to a worker that joins a paused crawl before it begins', async () => {
    const keys = bench.nextKeys()
    await bench.join(keys)
    await pauseCrawl({ redis: bench.redis, keys })
    expect((await bench.join(keys)).told).toEqual(['pause'])
  })

  test('a limit that one worker reaches ends the others, and so does the finish', async () => {
    const keys = bench.nextKeys()
    const [a, b] = [await bench.join(keys), await bench.join(keys)]
    await a.record.ended('closespider_pagecount')
    await b.hears('stop: closespider_pagecount')
    const other = bench.nextKeys()
    const [c, d] = [await bench.join(other), await bench.join(other)]
    await c.record.takeStart(new AbortController().signal)
    await c.record.startEnded(0)
    expect(await c.record.finish()).toBe(true)
    await d.hears('stop: finished')
  })

  test('a worker whose crawl was cleared ends, and is not noted in the next', async () => {
    const keys = bench.nextKeys()
    const old = await bench.join(keys)
    const clear = async () => {}
    await clearCrawl({ redis: bench.redis, keys, statsKey: bench.statsKey(keys), force: true, clear })
    const next = await bench.join(keys)
    await old.hears('stop: cleared')
    expect(await bench.redis.hkeys(keys.workers)).toEqual([next.workerId])
  })

  test('a worker whose crawl is gone, though nobody cleared it, ends with another reason', async () => {
    const keys = bench.nextKeys()
    const old = await bench.join(keys)
    await bench.redis.del(keys.record, keys.workers)
    const next = await bench.join(keys)
    await old.hears('stop: crawl_lost')
    expect(await bench.redis.hkeys(keys.workers)).toEqual([next.workerId])
  })

  test('a worker that slept through the end of its crawl, after which another was begun, ends in order', async () => {
    const keys = bench.nextKeys()
    const runs: CrawlRun[] = []
    for (let n = 0; n < 3; n++) {
      const record = bench.record(keys, { begins: true })
      await record.open()
      await record.takeStart(new AbortController().signal)
      await record.startEnded(0)
      expect(await record.finish()).toBe(true)
      runs.push(record.run)
    }
    const ended = Promise.withResolvers<string>()
    const asleep = new WorkerHeartbeat({
      redis: bench.redis,
      keys,
      statsKey: bench.statsKey(keys),
      workerId: bench.nextWorker(),
      stats: new MemoryStatsCollector(),
      tells: { activity: () => ({ downloading: 0, scraping: 0 }) },
      obeys: { onPause() {}, onResume() {}, onStop: ended.resolve },
    })
    await asleep.open(runs[0]!)
    expect(await ended.promise).toBe('cleared')
    await asleep.close()
  })
})

// Each with its own crawl; most of it is waiting.
describe.concurrent('stats', () => {
  test('are summed over all workers, those included that have left; extremes and texts are not', async () => {
    const keys = bench.nextKeys()
    const [a, b] = [await bench.join(keys), await bench.join(keys)]
    for (const [worker, pages, max, start] of [
      [a, 3, 5, '2026-11-01T10:00:00Z'],
      [b, 4, 2, '2026-11-01T09:00:00Z'],
    ] as const) {
      worker.stats.inc('response_received_count', pages)
      worker.stats.inc('elapsed', 0.1)
      worker.stats.max('request_depth_max', max)
      worker.stats.set('start_time', start)
      worker.stats.set('finish_reason', 'finished')
      worker.stats.set('start/failed', true)
      await leave(worker)
    }
    expect((await bench.view(keys)).stats).toEqual({
      response_received_count: 7,
      elapsed: 0.2,
      request_depth_max: 5,
      start_time: '2026-11-01T09:00:00Z',
      finish_reason: 'finished',
      'start/failed': true,
    })
    const fields = await bench.redis.hkeys(bench.statsKey(keys))
    expect(fields.filter((field) => field.includes(a.workerId))).toEqual([])
  })

  test('are right however often their writes are sent again', async () => {
    await using proxy = await startTcpProxy({ target: bench.server.url })
    const keys = bench.nextKeys()
    const worker = await bench.join(keys, { redis: bench.connect(proxy.url) })
    asksForStats(worker)
    for (let n = 1; n <= 3; n++) {
      worker.stats.inc('item_scraped_count', 10)
      worker.stats.inc('downloader/response_bytes', 2 ** 40)
      const fault = proxy.cutReplyOf(([name, , , key]) => /^EVAL/.test(name!) && key === bench.statsKey(keys))
      await until(
        async () => fault.count === 1 && (await totalOf(keys, 'item_scraped_count')) === 10 * n,
        10_000,
      )
    }
    await leave(worker)
    expect((await bench.view(keys)).stats).toEqual({
      item_scraped_count: 30,
      'downloader/response_bytes': 3 * 2 ** 40,
    })
  })

  test('of a worker that was taken for lost and lives count on, each page once', async () => {
    const keys = bench.nextKeys()
    const zombie = await bench.join(keys)
    asksForStats(zombie)
    zombie.stats.inc('item_scraped_count', 5)
    await until(async () => (await totalOf(keys, 'item_scraped_count')) === 5, 10_000)
    await bench.unheardFor(700_000, keys, zombie.workerId)
    await bench.redis.hdel(keys.workers, zombie.workerId)
    await bench.join(keys)
    zombie.stats.inc('item_scraped_count', 3)
    await until(async () => (await totalOf(keys, 'item_scraped_count')) === 8, 10_000)
    await until(async () => (await bench.view(keys)).workers.length === 2, 10_000)
    await leave(zombie)
    expect(await totalOf(keys, 'item_scraped_count')).toBe(8)
  })

  test('of the others are known a second late to who asks, and begin anew when the crawl is resumed', async () => {
    const keys = bench.nextKeys()
    const [a, b] = [await bench.join(keys), await bench.join(keys)]
    expect(a.heartbeat.stat('item_scraped_count')).toBe(0)
    asksForStats(b)
    a.stats.inc('item_scraped_count', 100)
    b.stats.inc('item_scraped_count', 4)
    await until(() => a.heartbeat.stat('item_scraped_count') === 4, 10_000)
    await leave(b)
    await until(() => a.heartbeat.stat('item_scraped_count') === 4, 10_000)
    await a.record.ended('closespider_itemcount')
    await leave(a)
    const resumedAt = performance.now()
    const resumed = await bench.join(keys)
    expect(resumed.heartbeat.stat('item_scraped_count')).toBe(0)
    const late = await bench.join(keys)
    asksForStats(late)
    late.stats.inc('item_scraped_count', 1)
    await until(() => resumed.heartbeat.stat('item_scraped_count') === 1, 10_000)
    expect(await totalOf(keys, 'item_scraped_count')).toBe(105)
    // A second for the difference of the two clocks: the run before lasted longer.
    expect(resumed.heartbeat.runningMs()).toBeLessThan(performance.now() - resumedAt + 1000)
    expect(resumed.heartbeat.runningMs()).toBeGreaterThan(100)
  })

  test('of the others are known to a worker that has left, and did not ask before', async () => {
    const keys = bench.nextKeys()
    const [a, b] = [await bench.join(keys), await bench.join(keys)]
    b.stats.inc('response_received_count', 7)
    b.stats.inc('item_scraped_count', 4)
    await leave(b)
    a.stats.inc('item_scraped_count', 100)
    await leave(a)
    expect(TOLD_AT_END.map((key) => a.heartbeat.stat(key))).toEqual([7, 4])
  })

  test('of the last crawl are gone when a new one begins', async () => {
    const keys = bench.nextKeys()
    const first = await bench.join(keys)
    first.stats.inc('item_scraped_count', 5)
    await first.record.takeStart(new AbortController().signal)
    await first.record.startEnded(0)
    await first.record.finish()
    await leave(first)
    const record = bench.record(keys, { begins: true, persists: true })
    await record.open()
    expect((await bench.view(keys)).stats).toEqual({})
    const second = await bench.join(keys)
    second.stats.inc('item_scraped_count', 1)
    await leave(second)
    expect((await bench.view(keys)).stats).toEqual({ item_scraped_count: 1 })
  })

  test('that cannot be written keep nobody from hearing what is asked', async () => {
    const keys = bench.nextKeys()
    await bench.redis.set(bench.statsKey(keys), 'somebody else’s')
    const { logger, told } = warnings()
    const worker = await bench.join(keys, { logger })
    await stopCrawl({ redis: bench.redis, keys })
    await worker.hears('stop: stopped')
    expect(told).toEqual(['the stats of this worker cannot be written now'])
    await bench.redis.del(bench.statsKey(keys))
  })
})

describe.concurrent('Redis is away', () => {
  test('the log says so once, and when it is back the worker is where it was', async () => {
    const own = new CrawlBench()
    await own.start({ appendonly: 'always' })
    try {
      const keys = own.nextKeys()
      const { logger, told } = warnings()
      const worker = await own.join(keys, { logger })
      asksForStats(worker)
      worker.stats.inc('item_scraped_count', 5)
      await own.server.kill()
      await until(() => told.length > 0, 15_000)
      worker.stats.inc('item_scraped_count', 2)
      await own.server.restart()
      const stats = async () =>
        (await readCrawl({ redis: own.redis, keys, statsKey: own.statsKey(keys) })).stats
      await until(async () => (await stats()).item_scraped_count === 7, 15_000)
      expect(told).toHaveLength(1)
      expect(worker.told).toEqual([])
    } finally {
      await own.stop()
    }
  })

  test('and has lost its last second: the stats are whole all the same', async () => {
    const keys = bench.nextKeys()
    const worker = await bench.join(keys)
    asksForStats(worker)
    const statsKey = bench.statsKey(keys)
    await until(async () => Number(await bench.redis.hget(statsKey, `beat|${worker.workerId}`)) > 1, 10_000)
    const older = await bench.redis.dump(statsKey).then(() => bench.redis.dumpBuffer(statsKey))
    worker.stats.inc('item_scraped_count', 5)
    await until(async () => (await totalOf(keys, 'item_scraped_count')) === 5, 10_000)
    await bench.redis.restore(statsKey, 0, older as Buffer, 'REPLACE')
    worker.stats.inc('response_received_count', 1)
    await until(async () => (await totalOf(keys, 'item_scraped_count')) === 5, 10_000)
    await leave(worker)
    expect((await bench.view(keys)).stats).toEqual({ item_scraped_count: 5, response_received_count: 1 })
  })

  test('a worker that closes then gives up in time', async () => {
    await using proxy = await startTcpProxy({ target: bench.server.url })
    const keys = bench.nextKeys()
    const { logger, told } = warnings()
    const worker = await bench.join(keys, { redis: bench.connect(proxy.url), logger })
    worker.stats.inc('item_scraped_count')
    await proxy.down()
    using lag = new MachineLag()
    const closingAt = performance.now()
    await worker.heartbeat.close()
    await worker.record.leave()
    // Three questions, each given up after three seconds.
    expect(performance.now() - closingAt).toBeLessThan(15_000 + lag.ms)
    expect(told.at(-1)).toMatch(/last stats/)
  })
})
