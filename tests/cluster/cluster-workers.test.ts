/** Workers that come late, or too early, or without a Redis; and one that grows too large. Of two releases: cluster-workers.soak.test.ts. */

import { type RedisServer, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  ClusterFolder,
  expectComplete,
  fetchCounts,
  followingSpider,
  freshCrawlId,
  messagesOf,
  seededSpider,
} from './cluster-crawl.ts'
import { lateWorker } from './cluster-rounds.ts'

const LONG = { timeout: 240_000 }

/** Longer than a second process takes to start. */
const IDLE = ['-a', 'maxIdleTime=5']

let redis: RedisServer
let locked: RedisServer
beforeAll(async () => {
  ;[redis, locked] = await Promise.all([startRedis(), startRedis({ password: 'right-one' })])
})
afterAll(() => Promise.all([redis.stop(), locked.stop()]))

const settings = (crawlId: string, more: Readonly<Record<string, unknown>> = {}) => ({
  REDIS_URL: redis.url,
  CRAWL_ID: crawlId,
  CONCURRENT_REQUESTS: 4,
  LOG_FORMAT: 'json',
  ...more,
})

test.concurrent('a late worker takes its part', LONG, () => lateWorker(redis, 'turns'))

test.concurrent(
  'a worker process over MEMUSAGE_LIMIT_MB leaves, and another takes its place',
  LONG,
  async () => {
    await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 80, latencyMs: 200 })
    // The first process that comes here grows, and no other.
    const growing = followingSpider(web, 'static hoard: Buffer[] = []')
      .replace('import {', "import { existsSync, writeFileSync } from 'node:fs'\nimport {")
      .replace(
        'yield { url: response.url }',
        `if (!existsSync('grown')) {
      writeFileSync('grown', '')
      Pages.hoard.push(Buffer.alloc(400 * 2 ** 20, 1))
    }
    yield { url: response.url }`,
      )
    await using folder = await ClusterFolder.of(
      web,
      settings(freshCrawlId('grows'), { MEMUSAGE_LIMIT_MB: 450, MEMUSAGE_CHECK_INTERVAL_SECONDS: 0.2 }),
      growing,
    )
    const { code, stderr } = await folder.worker('all', '--processes', '2').exited
    expect(code, stderr).toBe(0)
    expect(messagesOf({ stderr }).join('\n')).toMatch(
      /was over MEMUSAGE_LIMIT_MB and has left; another takes its place/,
    )
    expect(await expectComplete(web, folder)).toBe(0)
    expect(fetchCounts(await web.hits()).size).toBe(web.linked().size)
  },
)

test.concurrent(
  'a worker without Redis ends with 3, names the host and hides the password',
  LONG,
  async () => {
    await using web = await startFakeWebProcess({ pagesPerHost: 2 })
    await using folder = await ClusterFolder.of(web, {
      REDIS_URL: 'redis://:hidden-one@127.0.0.1:1/',
      REDIS_START_TIMEOUT: 1,
    })
    for (const words of [[], ['--processes', '2']]) {
      const { code, stderr } = await folder.workerProcess('a', ...words).exited
      expect(code, stderr).toBe(3)
      expect(stderr).toMatch(/Redis at redis:\/\/\S*127\.0\.0\.1:1\S* cannot be used: .*ECONNREFUSED/)
      expect(stderr).not.toContain('hidden-one')
    }
  },
)

test.concurrent(
  'workers of a RedisSpider wait for the first seed, crawl it, and end when none comes for maxIdleTime',
  LONG,
  async () => {
    await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 30 })
    const crawlId = freshCrawlId('early')
    await using folder = await ClusterFolder.of(web, settings(crawlId), seededSpider([]))
    const workers = ['a', 'b'].map((name) => folder.worker(name, ...IDLE))
    await Promise.all(workers.map((worker) => worker.waitForOutput(/note: crawl/, 60_000)))
    await redis.command('RPUSH', `pages:${crawlId}:start_urls`, ...web.seeds)
    for (const { code, stderr } of await Promise.all(workers.map(({ exited }) => exited))) {
      expect(code, stderr).toBe(0)
      expect(messagesOf({ stderr }).at(-1)).toBe('crawl ended: finished')
    }
    expect(await expectComplete(web, folder)).toBe(0)
  },
)

test.concurrent('--stay: a worker with nothing left to do stays until it is stopped', LONG, async () => {
  await using web = await startFakeWebProcess({ pagesPerHost: 10 })
  await using folder = await ClusterFolder.of(web, settings(freshCrawlId('stays')))
  const worker = folder.worker('a', '--stay')
  await web.waitForHits(web.linked().size, 60_000)
  const idle = folder.worker('b', '--stay')
  await idle.waitForOutput(/note: crawl/, 60_000)
  const seen = JSON.parse((await folder.run('status', 'pages', '--json')).stdout)
  expect(seen).toMatchObject({ state: 'running', counts: { waiting: 0, delayed: 0, leased: 0 } })
  expect((await folder.run('stop', 'pages')).code).toBe(0)
  for (const { code, stderr } of await Promise.all([worker.exited, idle.exited])) {
    expect(code, stderr).toBe(0)
    expect(messagesOf({ stderr }).at(-1)).toBe('crawl ended: stopped')
  }
})

test.concurrent('a wrong password: a worker ends with 2 and says so, without showing it', LONG, async () => {
  await using web = await startFakeWebProcess({ pagesPerHost: 2 })
  const url = locked.url.replace('right-one', 'wrong-one')
  await using folder = await ClusterFolder.of(web, { REDIS_URL: url, REDIS_START_TIMEOUT: 3 })
  const { code, stderr } = await folder.worker('a').exited
  expect(code, stderr).toBe(2)
  expect(stderr).toMatch(/WRONGPASS|password/)
  expect(stderr).not.toContain('wrong-one')
})
