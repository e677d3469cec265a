import { silentLogger } from '@webloom/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench, until } from '../../testing/crawl-bench.ts'
import { clearCrawl } from '../outside/crawl-control.ts'
import { readCrawls } from '../outside/crawl-registry.ts'
import { readCrawl } from '../outside/crawl-view.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { CrawlHistory } from './crawl-history.ts'
import { keepSample, readSamples } from './crawl-samples.ts'
import { RedisRunLog } from './redis-run-log.ts'
import { readRuns } from './run-records.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const historyOf = (keys: CrawlRedisKeys, hours = 24) =>
  new CrawlHistory({
    redis: bench.redis,
    keys,
    statsKey: bench.statsKey(keys),
    hours,
    logger: silentLogger,
  })

const seen = (keys: CrawlRedisKeys) => readCrawl({ redis: bench.redis, keys, statsKey: bench.statsKey(keys) })

/** A worker's stats are in the totals when it has left. */
async function crawled(keys: CrawlRedisKeys, stats: Record<string, number>) {
  const worker = await bench.join(keys)
  for (const [key, value] of Object.entries(stats)) worker.stats.inc(key, value)
  await worker.record.takeStart(new AbortController().signal)
  await worker.record.startEnded(0)
  await worker.record.finish()
  await worker.heartbeat.close()
  await worker.record.ended('finished')
  const { last } = await worker.record.leave()
  expect(last).toBe(true)
  await historyOf(keys).ended()
}

test('of several workers one keeps a sample, about every ten seconds', async () => {
  const keys = bench.nextKeys()
  const history = historyOf(keys)
  let kept = 0
  const onSampleDue = async () => {
    kept++
    await history.sample()
  }
  const workers = await Promise.all([1, 2, 3].map(() => bench.join(keys, { obeys: { onSampleDue } })))
  await until(async () => (await readSamples(bench.redis, keys, 10)).length > 0, 15_000)
  // Each of them asks again at once.
  for (const { heartbeat } of workers) heartbeat.stat('item_scraped_count')
  expect(kept).toBe(1)
  expect(await readSamples(bench.redis, keys, 10)).toMatchObject([{ workers: 3, pages: 0, waiting: 0 }])
})

test('a sample says what the crawl did, and is read as it was kept; the oldest go', async () => {
  const keys = bench.nextKeys()
  const worker = await bench.join(keys)
  worker.stats.inc('response_received_count', 7)
  worker.heartbeat.stat('response_received_count')
  await bench.redis.hset(keys.frontierCounts, { waiting: 9, delayed: 2, leased: 1 })
  await until(async () => (await seen(keys)).stats.response_received_count === 7, 15_000)
  for (let n = 0; n < 5; n++) await keepSample(bench.redis, keys, await seen(keys), 3)
  const samples = await readSamples(bench.redis, keys, 100)
  expect(samples).toHaveLength(3)
  expect(samples.at(-1)).toMatchObject({ pages: 7, waiting: 9, delayed: 2, leased: 1, workers: 1, errors: 0 })
  expect(Math.abs(samples.at(-1)!.atMs - Date.now())).toBeLessThan(5000)
  expect(await readSamples(bench.redis, keys, 1)).toHaveLength(1)
  await bench.redis.rpush(keys.history, '[99,1]')
  expect(await readSamples(bench.redis, keys, 100)).toHaveLength(3)
})

test('a day of samples takes less than a megabyte', async () => {
  const keys = bench.nextKeys()
  await bench.join(keys)
  const big = {
    ...(await seen(keys)),
    pagesPerMinute: 123_456,
    itemsPerMinute: 123_456,
    errorsPerMinute: 1234,
  }
  const view = {
    ...big,
    counts: { waiting: 123_456_789, delayed: 123_456, leased: 1234, quarantined: 0 },
    stats: {
      response_received_count: 123_456_789,
      item_scraped_count: 123_456_789,
      'log_count/ERROR': 123_456,
    },
  }
  for (let n = 0; n < 864; n++) await keepSample(bench.redis, keys, view, 8640)
  const bytes = Number(await bench.redis.call('MEMORY', 'USAGE', keys.history, 'SAMPLES', '0'))
  expect(bytes * 10).toBeLessThan(1_000_000)
})

test('a run is kept with its totals when it has ended, the latest first, and clear leaves it', async () => {
  const keys = bench.nextKeys()
  await crawled(keys, {
    response_received_count: 12,
    item_scraped_count: 10,
    'downloader/response_status_count/200': 11,
    'downloader/response_status_count/404': 1,
    'failed/count': 3,
    // Of these one had an errback that dealt with it.
    'downloader/given_up/DownloadTimeoutError': 4,
    'item_field_count/price': 4,
  })
  const [run] = await readRuns(bench.redis, keys)
  expect(run).toMatchObject({
    state: 'finished',
    finishReason: 'finished',
    pages: 12,
    items: 10,
    givenUp: 3,
    statuses: { 200: 11, 404: 1 },
    fields: { price: 4 },
  })
  expect(run!.endedAt!.getTime()).toBeGreaterThanOrEqual(run!.begunAt.getTime())
  await clearCrawl({ redis: bench.redis, keys, statsKey: bench.statsKey(keys), clear: async () => {} })
  expect(await readRuns(bench.redis, keys)).toHaveLength(1)
  await crawled(keys, { response_received_count: 3 })
  expect((await readRuns(bench.redis, keys)).map(({ pages }) => pages)).toEqual([3, 12])
})

test('a run whose workers were killed runs until another is begun, and then was lost', async () => {
  const keys = bench.nextKeys()
  const worker = await bench.join(keys)
  await historyOf(keys).sample()
  expect(await readRuns(bench.redis, keys)).toMatchObject([{ state: 'running', run: worker.record.run.id }])
  await bench.redis.del(keys.record, keys.workers)
  await bench.join(keys)
  await historyOf(keys).sample()
  expect((await readRuns(bench.redis, keys)).map(({ state }) => state)).toEqual(['running', 'lost'])
})

test('fifty runs are kept', async () => {
  const keys = bench.nextKeys()
  const old = Array.from({ length: 50 }, (_, n) => [
    `run-${n}`,
    JSON.stringify({
      form: 1,
      run: `run-${n}`,
      state: 'finished',
      begunAt: 1000 + n,
      statuses: {},
      fields: {},
    }),
  ])
  await bench.redis.hset(keys.runs, ...old.flat())
  await bench.join(keys)
  await historyOf(keys).sample()
  const kept = await readRuns(bench.redis, keys)
  expect(kept).toHaveLength(50)
  expect(kept.at(-1)?.run).toBe('run-1')
  expect(await readCrawls(bench.redis)).toEqual([])
})

test('what another program has written among the runs is told once and left out; the monitors see the other runs', async () => {
  const keys = bench.nextKeys()
  await crawled(keys, { item_scraped_count: 3 })
  await clearCrawl({ redis: bench.redis, keys, statsKey: bench.statsKey(keys), clear: async () => {} })
  await crawled(keys, { item_scraped_count: 4 })
  const [now] = await readRuns(bench.redis, keys)
  const damage = [
    '{',
    'null',
    '[]',
    '{"form":1}',
    '{"form":1,"run":"a","begunAt":"soon","statuses":{},"fields":{}}',
  ]
  await bench.redis.hset(keys.runs, Object.fromEntries(damage.map((text, n) => [`damaged-${n}`, text])))
  await bench.redis.hset(keys.monitors, now!.run, 'null')
  const told: unknown[] = []
  const items = (await readRuns(bench.redis, keys, (what) => told.push(what))).map((run) => run.items)
  expect(items).toEqual([4, 3])
  expect(told).toEqual([`5 of 7 values in ${keys.runs}`])
  const warned: unknown[] = []
  const logger = { ...silentLogger, warn: (what: unknown) => warned.push(what) }
  const log = new RedisRunLog({ redis: bench.redis, keys, statsKey: bench.statsKey(keys), logger })
  expect(await log.look()).toMatchObject({ run: { items: 4 }, past: [{ items: 3 }] })
  await bench.redis.set(keys.runs, 'a text')
  expect(await readRuns(bench.redis, keys, (what) => told.push(what))).toEqual([])
  expect(told.at(-1)).toBe(`${keys.runs} is no hash`)
  expect(await log.look()).toMatchObject({ run: { items: 4 }, past: [] })
  expect(warned).toHaveLength(1)
})
