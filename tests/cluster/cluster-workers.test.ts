/** Workers that come late, or too early, or without a Redis. Of two releases, and one that grows too large: cluster-workers.soak.test.ts. */

import { type RedisServer, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ClusterFolder, expectComplete, freshCrawlId, messagesOf, seededSpider } from './cluster-crawl.ts'
import { endsWithoutRedis, lateWorker } from './cluster-rounds.ts'

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

test.concurrent('a worker without Redis ends with 3, names the host and hides the password', LONG, () =>
  endsWithoutRedis(),
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
  const look = async () => JSON.parse((await folder.run('status', 'pages', '--json')).stdout)
  // A worker logs its notes before it joins, and one that joins after the stop would go on.
  await expect.poll(async () => (await look()).workers.length).toBe(2)
  expect(await look()).toMatchObject({ state: 'running', counts: { waiting: 0, delayed: 0, leased: 0 } })
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
