/** Crawls of their own that share one dupefilter, as with scrapy-redis's key written without %(spider)s. */

import { type RedisServer, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ClusterFolder, fetchCounts, repeatsOfLinks } from './cluster-crawl.ts'

let queues: RedisServer[]
let filterRedis: RedisServer
beforeAll(async () => {
  ;[filterRedis, ...queues] = (await Promise.all([startRedis(), startRedis(), startRedis()])) as [
    RedisServer,
    ...RedisServer[],
  ]
})
afterAll(async () => {
  for (const server of [filterRedis, ...queues]) await server.stop()
})

test('two crawls at once on one filter fetch each page once between them, and a third one nothing more', {
  timeout: 180_000,
}, async () => {
  await using web = await startFakeWebProcess({
    seed: 5,
    hosts: 3,
    pagesPerHost: 100,
    crossHostLinks: 0.2,
    latencyMs: [0, 10],
  })
  const settings = {
    DUPEFILTER_REDIS_URL: [filterRedis.url],
    SCHEDULER_DUPEFILTER_KEY: 'shared',
    SCHEDULER_PERSIST: true,
    LOG_FORMAT: 'json',
  }
  await using folder = await ClusterFolder.of(web, settings)
  const crawl = async (crawlId: string, queue: RedisServer) => {
    const more = ['-s', `CRAWL_ID=${crawlId}`, '-s', `QUEUE_REDIS_URL=${queue.url}`]
    const { code, stderr } = await folder.worker(crawlId, ...more).exited
    expect(code, stderr).toBe(0)
  }
  await Promise.all([crawl('a', queues[0]!), crawl('b', queues[1]!)])
  const hits = await web.hits()
  const counts = fetchCounts(hits)
  expect([...web.linked()].filter((url) => !counts.has(url))).toEqual([])
  expect(repeatsOfLinks(web, hits), 'links fetched again').toBe(0)
  const redis = new Redis(filterRedis.url)
  expect((await redis.keys('*')).sort(), 'nothing but the filter').toEqual(['shared', '{shared}:record'])
  redis.disconnect()

  await crawl('c', queues[0]!)
  const more = (await web.hits()).slice(hits.length)
  expect(more.filter(({ url }) => !web.seeds.includes(url))).toEqual([])
})
