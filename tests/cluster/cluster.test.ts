/** Crawls that several worker processes share, on real Redis servers, judged by what the fake web saw. */

import {
  type FakeWebOptions,
  type FakeWebProcess,
  type RedisServer,
  startFakeWebProcess,
  startRedis,
} from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ClusterFolder,
  fetchCounts,
  freshCrawlId,
  messagesOf,
  repeatsOfLinks,
  STATS_EACH_SECOND,
} from './cluster-crawl.ts'

let redis: RedisServer
let filterRedis: RedisServer
beforeAll(async () => {
  ;[redis, filterRedis] = await Promise.all([
    startRedis({ appendonly: 'everysec' }),
    startRedis({ appendonly: 'everysec' }),
  ])
})
afterAll(() => Promise.all([redis.stop(), filterRedis.stop()]))

const LONG = { timeout: 120_000 }
const CONCURRENCY = 8

const eachPageOnce = async (web: FakeWebProcess) => {
  const counts = fetchCounts(await web.hits())
  expect(new Set(counts.keys())).toEqual(web.linked())
  expect([...counts].filter(([, count]) => count > 1)).toEqual([])
}

const webOf = (options: FakeWebOptions) =>
  startFakeWebProcess({ hosts: 4, pagesPerHost: 100, crossHostLinks: 0.2, latencyMs: [0, 10], ...options })

const settingsOf = (mode: string) => ({
  REDIS_URL: redis.url,
  DUPEFILTER_REDIS_URL: [filterRedis.url],
  CRAWL_ID: freshCrawlId(mode),
  QUEUE_MODE: mode,
  LOG_FORMAT: 'json',
})

describe.concurrent.each(['turns', 'job'])('QUEUE_MODE=%s', LONG, (mode) => {
  const settings = () => settingsOf(mode)

  test('three workers share a crawl: each page is fetched once, and all end', async () => {
    await using web = await webOf({ seed: 1 })
    await using folder = await ClusterFolder.of(web, settings())
    const ended = await Promise.all(['a', 'b', 'c'].map((name) => folder.worker(name).exited))
    for (const one of ended) expect(one.code, one.stderr).toBe(0)
    await eachPageOnce(web)
    expect(new Set(folder.itemUrls())).toEqual(web.reachable())
    expect(folder.itemUrls().length).toBe(web.reachable().size)
    const seen = await folder.run('status', 'pages', '--json')
    expect(JSON.parse(seen.stdout)).toMatchObject({
      state: 'finished',
      finishReason: 'finished',
      counts: { waiting: 0, delayed: 0, leased: 0, quarantined: 0 },
      stats: { response_received_count: web.reachable().size },
    })
  })

  test('a worker that starts after the end fetches nothing; crawl and worker --new begin anew', async () => {
    await using web = await webOf({ seed: 2, hosts: 1, pagesPerHost: 20 })
    await using folder = await ClusterFolder.of(web, settings())
    expect((await folder.run('crawl', 'pages')).code).toBe(0)
    const hits = await web.hitCount()
    const late = await folder.worker('late').exited
    expect(late.code, late.stderr).toBe(0)
    expect(messagesOf(late).join('\n')).toMatch(/finished on .* nothing is fetched/)
    expect(await web.hitCount()).toBe(hits)
    expect((await folder.worker('new', '--new').exited).code).toBe(0)
    expect(await web.hitCount()).toBe(2 * hits)
    expect((await folder.run('crawl', 'pages')).code).toBe(0)
    expect(await web.hitCount()).toBe(3 * hits)
  })

  test('a worker killed with -9 in mid-crawl is noticed, and what it held is crawled by another', async () => {
    await using web = await webOf({ seed: 3, latencyMs: 50 })
    await using folder = await ClusterFolder.of(web, {
      ...settings(),
      ...STATS_EACH_SECOND,
      CONCURRENT_REQUESTS: CONCURRENCY,
    })
    const [victim, other] = [folder.worker('victim'), folder.worker('other')]
    await web.waitForHits(100, 60_000)
    victim.kill('SIGKILL')
    const ended = await other.exited
    expect(ended.code, ended.stderr).toBe(0)
    const hits = await web.hits()
    expect(new Set(fetchCounts(hits).keys())).toEqual(web.linked())
    // The victim has not told what it counted in its last second.
    expect(repeatsOfLinks(web, hits)).toBeLessThanOrEqual((await folder.repeatsCounted()) + CONCURRENCY)
    expect(new Set(folder.itemUrls())).toEqual(web.reachable())
  })

  test('what one Redis holds is of its role alone', async () => {
    // Servers of its own, as every key counts.
    await using redis = await startRedis()
    await using filterRedis = await startRedis()
    await using web = await webOf({ seed: 4, hosts: 1, pagesPerHost: 20 })
    await using folder = await ClusterFolder.of(web, {
      REDIS_URL: redis.url,
      DUPEFILTER_REDIS_URL: [filterRedis.url],
      QUEUE_MODE: mode,
      LOG_FORMAT: 'json',
      SCHEDULER_PERSIST: true,
      ITEM_PIPELINES: [['redis', 300]],
    })
    expect((await folder.run('crawl', 'pages')).code).toBe(0)
    const keysOf = async (server: RedisServer) => ((await server.command('KEYS', '*')) as string[]).sort()
    for (const key of await keysOf(filterRedis))
      expect(key).toMatch(/^(\{pages:dupefilter\}|pages:dupefilter$)/)
    for (const key of await keysOf(redis))
      expect(key).toMatch(/^(webloom:crawls|webloom:\{pages\}|pages:(stats|items)$)/)
    expect(await redis.command('LLEN', 'pages:items')).toBe(web.reachable().size)
  })

  test('two crawls under different CRAWL_IDs at once share nothing', async () => {
    await using web = await webOf({ seed: 6, hosts: 1, pagesPerHost: 30 })
    await using folder = await ClusterFolder.of(web, settings())
    const ended = await Promise.all(
      ['one', 'two'].map((id) => folder.worker(id, '-s', `CRAWL_ID=${freshCrawlId(id)}`).exited),
    )
    for (const { code, stderr } of ended) expect(code, stderr).toBe(0)
    const counts = fetchCounts(await web.hits())
    expect(new Set(counts.values())).toEqual(new Set([2]))
    expect(new Set(counts.keys())).toEqual(web.linked())
  })
})

// Alone: it measures how soon.
describe.each(['turns', 'job'])('QUEUE_MODE=%s', LONG, (mode) => {
  test('pause, resume and stop reach every worker within two seconds', async () => {
    await using web = await webOf({ seed: 5, hosts: 2, pagesPerHost: 3000, latencyMs: 5 })
    await using folder = await ClusterFolder.of(web, { ...settingsOf(mode), CONCURRENT_REQUESTS: 4 })
    const workers = [folder.worker('a'), folder.worker('b')]
    await web.waitForHits(50, 60_000)
    expect((await folder.run('pause', 'pages')).code).toBe(0)
    await Promise.all(workers.map((worker) => worker.waitForOutput(/the crawl is paused/, 2000)))
    const seen = JSON.parse((await folder.run('status', 'pages', '--json')).stdout)
    expect(seen).toMatchObject({
      state: 'running',
      paused: true,
      workers: [{ lost: false }, { lost: false }],
    })
    const hits = await web.hitCount()
    expect((await folder.run('resume', 'pages')).code).toBe(0)
    await web.waitForHits(hits + 20, 10_000)
    expect((await folder.run('stop', 'pages', '--reason', 'enough')).code).toBe(0)
    const stoppedAt = performance.now()
    for (const worker of workers) {
      const { code, stderr } = await worker.exited
      expect(code, stderr).toBe(0)
      expect(messagesOf({ stderr }).at(-1)).toBe('crawl ended: enough')
    }
    expect(performance.now() - stoppedAt).toBeLessThan(6000)
  })
})
