/** Crawls that several worker processes share, for each mode of the queue, on the two Redis servers that they are given. */

import { readFileSync } from 'node:fs'
import {
  type FakeWebOptions,
  type FakeWebProcess,
  MachineLag,
  type RedisServer,
  startFakeWeb,
  startFakeWebProcess,
  startRedis,
} from '@webloom/testkit'
import { expect } from 'vitest'
import {
  ClusterFolder,
  expectComplete,
  fetchCounts,
  freshCrawlId,
  messagesOf,
  repeatsOfLinks,
  STATS_EACH_SECOND,
  seededSpider,
} from './cluster-crawl.ts'

export type Mode = 'turns' | 'job'

const CONCURRENCY = 8

/** Of the queue and of the filter. */
export class TwoServers implements AsyncDisposable {
  readonly #redis: RedisServer
  readonly #filterRedis: RedisServer

  private constructor(redis: RedisServer, filterRedis: RedisServer) {
    this.#redis = redis
    this.#filterRedis = filterRedis
  }

  static async start(): Promise<TwoServers> {
    const [redis, filterRedis] = await Promise.all([
      startRedis({ appendonly: 'everysec' }),
      startRedis({ appendonly: 'everysec' }),
    ])
    return new TwoServers(redis, filterRedis)
  }

  /** Of a crawl of its own. */
  settings(mode: Mode) {
    return {
      REDIS_URL: this.#redis.url,
      DUPEFILTER_REDIS_URL: [this.#filterRedis.url],
      CRAWL_ID: freshCrawlId(mode),
      QUEUE_MODE: mode,
      LOG_FORMAT: 'json',
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#redis.stop(), this.#filterRedis.stop()])
  }
}

const webOf = (options: FakeWebOptions) =>
  startFakeWebProcess({ hosts: 4, pagesPerHost: 25, crossHostLinks: 0.2, latencyMs: [0, 10], ...options })

const eachPageOnce = async (web: FakeWebProcess) => {
  const counts = fetchCounts(await web.hits())
  expect(new Set(counts.keys())).toEqual(web.linked())
  expect([...counts].filter(([, count]) => count > 1)).toEqual([])
}

export async function sharedByThree(mode: Mode, servers: TwoServers): Promise<void> {
  await using web = await webOf({ seed: 1 })
  await using folder = await ClusterFolder.of(web, servers.settings(mode))
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
}

export async function afterTheEnd(mode: Mode, servers: TwoServers): Promise<void> {
  await using web = await webOf({ seed: 2, hosts: 1, pagesPerHost: 10 })
  await using folder = await ClusterFolder.of(web, servers.settings(mode))
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
}

export async function killedInMidCrawl(mode: Mode, servers: TwoServers): Promise<void> {
  await using web = await webOf({ seed: 3, latencyMs: 50 })
  await using folder = await ClusterFolder.of(web, {
    ...servers.settings(mode),
    ...STATS_EACH_SECOND,
    CONCURRENT_REQUESTS: CONCURRENCY,
  })
  const [victim, other] = [folder.worker('victim'), folder.worker('other')]
  await web.waitForHits(30, 60_000)
  victim.kill('SIGKILL')
  const ended = await other.exited
  expect(ended.code, ended.stderr).toBe(0)
  const hits = await web.hits()
  expect(new Set(fetchCounts(hits).keys())).toEqual(web.linked())
  // The victim has not told what it counted in its last second.
  expect(repeatsOfLinks(web, hits)).toBeLessThanOrEqual((await folder.repeatsCounted()) + CONCURRENCY)
  expect(new Set(folder.itemUrls())).toEqual(web.reachable())
}

export async function eachRoleAlone(mode: Mode): Promise<void> {
  // Servers of its own, as every key counts.
  await using redis = await startRedis()
  await using filterRedis = await startRedis()
  await using web = await webOf({ seed: 4, hosts: 1, pagesPerHost: 10 })
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
}

export async function twoCrawls(mode: Mode, servers: TwoServers): Promise<void> {
  await using web = await webOf({ seed: 6, hosts: 1, pagesPerHost: 30 })
  await using folder = await ClusterFolder.of(web, servers.settings(mode))
  const ended = await Promise.all(
    ['one', 'two'].map((id) => folder.worker(id, '-s', `CRAWL_ID=${freshCrawlId(id)}`).exited),
  )
  for (const { code, stderr } of ended) expect(code, stderr).toBe(0)
  const counts = fetchCounts(await web.hits())
  expect(new Set(counts.values())).toEqual(new Set([2]))
  expect(new Set(counts.keys())).toEqual(web.linked())
}

export async function pausedAndStopped(mode: Mode, servers: TwoServers): Promise<void> {
  await using web = await webOf({ seed: 5, hosts: 2, pagesPerHost: 1000, latencyMs: 100 })
  await using folder = await ClusterFolder.of(web, { ...servers.settings(mode), CONCURRENT_REQUESTS: 2 })
  const workers = [folder.worker('a'), folder.worker('b')]
  await web.waitForHits(20, 60_000)
  expect((await folder.run('pause', 'pages')).code).toBe(0)
  await Promise.all(workers.map((worker) => worker.waitForOutput(/the crawl is paused/)))
  const seen = JSON.parse((await folder.run('status', 'pages', '--json')).stdout)
  expect(seen).toMatchObject({
    state: 'running',
    paused: true,
    workers: [{ lost: false }, { lost: false }],
  })
  const hits = await web.hitCount()
  expect((await folder.run('resume', 'pages')).code).toBe(0)
  await web.waitForHits(hits + 10, 60_000)
  expect((await folder.run('stop', 'pages', '--reason', 'enough')).code).toBe(0)
  using lag = new MachineLag()
  const stoppedAt = performance.now()
  for (const worker of workers) {
    const { code, stderr } = await worker.exited
    expect(code, stderr).toBe(0)
    expect(messagesOf({ stderr }).at(-1)).toBe('crawl ended: enough')
  }
  expect(performance.now() - stoppedAt).toBeLessThan(6000 + lag.ms)
}

export async function lateWorker(redis: RedisServer, mode: Mode): Promise<void> {
  const crawlId = freshCrawlId(`late-${mode}`)
  const atOnce = 4
  await using web = await startFakeWeb({ hosts: 8, pagesPerHost: 20, latencyMs: 20 })
  const [first, ...others] = web.seeds
  // These are answered when all of them are asked for: the first worker has no room for so many.
  const asked = new Set<string>()
  const allAsked = Promise.withResolvers<void>()
  for (const [n, seed] of others.entries())
    web.route(n + 1, '/', async (_, response) => {
      if (asked.add(seed).size === others.length) allAsked.resolve()
      await allAsked.promise
      response.setHeader('content-type', 'text/html').end(web.page(seed)!.html)
    })
  const spider = seededSpider([first!])
  await using folder = await ClusterFolder.of(
    web,
    {
      REDIS_URL: redis.url,
      CRAWL_ID: crawlId,
      CONCURRENT_REQUESTS: atOnce,
      LOG_FORMAT: 'json',
      QUEUE_MODE: mode,
    },
    spider,
  )
  const workers = [folder.worker('first', '-a', 'maxIdleTime=0')]
  await web.waitForHits(5, 60_000)
  const late = folder.worker('late', '-a', 'maxIdleTime=0')
  workers.push(late)
  await late.waitForOutput(/note: crawl/, 60_000)
  await redis.command('RPUSH', `pages:${crawlId}:start_urls`, ...others)
  await web.waitForHits(web.linked().size, 120_000)
  expect((await folder.run('stop', 'pages')).code).toBe(0)
  for (const { code, stderr } of await Promise.all(workers.map(({ exited }) => exited)))
    expect(code, stderr).toBe(0)
  expect(await expectComplete(web, folder)).toBe(0)
  const items = readFileSync(folder.path('items-late.jsonl'), 'utf8')
  const taken = others.filter((seed) => items.includes(`"${seed}"`))
  expect(taken.length).toBeGreaterThanOrEqual(others.length - atOnce)
}

/** Told in words, and with the exit code for it. */
export async function endsWithoutRedis(...words: string[]): Promise<void> {
  await using folder = await ClusterFolder.of(
    { seeds: [] },
    { REDIS_URL: 'redis://:hidden-one@127.0.0.1:1/', REDIS_START_TIMEOUT: 1 },
  )
  const { code, stderr } = await folder.worker('a', ...words).exited
  expect(code, stderr).toBe(3)
  expect(stderr).toMatch(/Redis at redis:\/\/\S*127\.0\.0\.1:1\S* cannot be used: .*ECONNREFUSED/)
  expect(stderr).not.toContain('hidden-one')
}
