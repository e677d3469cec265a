/** The queue's Redis loses the crawl under its workers: nobody asked for that, and it is no end like others. */

import { type RedisServer, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  ClusterFolder,
  followingSpider,
  freshCrawlId,
  linesOf,
  messagesOf,
  SHORT_TIMES,
} from '../cluster/cluster-crawl.ts'

const LONG = { timeout: 180_000 }

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

/** Until the crawl is lost it has no end. */
const SLOW = { DOWNLOAD_DELAY: 0.2, CONCURRENT_REQUESTS: 4, LOG_FORMAT: 'json' }

const crawlOf = (name: string, mode: string) => {
  const settings = { ...SLOW, REDIS_URL: redis.url, QUEUE_MODE: mode, CRAWL_ID: freshCrawlId(name) }
  return { settings, crawl: settings.CRAWL_ID }
}

test.concurrent.each([
  ['turns', 'all its keys are', deleteAll],
  ['job', 'its record is', (crawl: string) => redis.command('DEL', `webloom:{pages@${crawl}}:record`)],
])('QUEUE_MODE=%s, %s deleted: the worker says so at ERROR and ends with 1', LONG, async (mode, _, lose) => {
  await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 100 })
  const { settings, crawl } = crawlOf('lost', mode)
  await using folder = await ClusterFolder.of(web, settings)
  const worker = folder.worker('a', '-s', 'DUPEFILTER_SHARDS=2')
  await web.waitForHits(4, 30_000)
  await lose(crawl)
  const { code, stderr } = await worker.exited
  expect(code, stderr).toBe(1)
  const errors = linesOf({ stderr }).filter(({ level }) => level === 'ERROR')
  expect(errors.map(({ msg }) => msg).join('\n')).toMatch(
    new RegExp(
      `nobody cleared it.*queued there are lost.*webloom clear pages -s CRAWL_ID=${crawl} -s DUPEFILTER_SHARDS=2, then webloom worker pages -s CRAWL_ID=${crawl} -s DUPEFILTER_SHARDS=2`,
    ),
  )
  expect(messagesOf({ stderr }).at(-1)).toMatch(/^crawl ended: crawl_lost/)
})

test.concurrent(
  'a worker that is started again is refused, as the filter knows what was queued; without SCHEDULER_PERSIST it empties that',
  LONG,
  async () => {
    await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 10 })
    const { settings, crawl } = crawlOf('again', 'turns')
    await using folder = await ClusterFolder.of(web, settings, followingSpider(web), SHORT_TIMES)
    const worker = folder.worker('a', '-s', 'DUPEFILTER_SHARDS=2')
    await web.waitForHits(4, 30_000)
    await redis.command('DEL', `webloom:{pages@${crawl}}:record`)
    expect((await worker.exited).code).toBe(1)
    const fetched = (await web.hits()).length
    const said = async (...words: string[]) => (await folder.run(...words)).stdout
    expect(await said('status', 'pages')).toMatch(
      new RegExp(
        `^crawl "pages" .* idle\n +last run +begun .* lost with its Redis .crawl_lost. after [1-9]\\d* pages?\\. All runs: {2}webloom runs pages -s CRAWL_ID=${crawl}\n`,
      ),
    )
    const refused = await folder.worker('b', '-s', 'DUPEFILTER_SHARDS=2', '-s', 'SCHEDULER_PERSIST=true')
      .exited
    expect(refused.code, refused.stderr).toBe(2)
    expect(refused.stderr).toContain(
      `webloom clear pages -s CRAWL_ID=${crawl} -s DUPEFILTER_SHARDS=2, then webloom worker`,
    )
    expect((await web.hits()).length).toBe(fetched)
    expect(await said('stop', 'pages')).toMatch(
      /gone from Redis at .*To crawl again, run webloom clear pages/,
    )
    const anew = await folder.worker('c', '-s', 'DUPEFILTER_SHARDS=2', '-s', 'DOWNLOAD_DELAY=0').exited
    expect(anew.code, anew.stderr).toBe(0)
    expect(messagesOf(anew)).toContainEqual(
      expect.stringContaining('the dupefilter knows pages of an earlier crawl'),
    )
    const all = (await web.hits()).slice(fetched).map(({ url }) => url)
    expect([...web.reachable()].filter((url) => !all.includes(url))).toEqual([])
  },
)

test.concurrent('webloom clear --force is no loss: the worker ends with 0', LONG, async () => {
  await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 100 })
  await using folder = await ClusterFolder.of(web, crawlOf('cleared', 'turns').settings)
  const worker = folder.worker('a')
  await web.waitForHits(4, 30_000)
  expect((await folder.run('clear', 'pages', '--force')).code).toBe(0)
  const { code, stderr } = await worker.exited
  expect(code, stderr).toBe(0)
  expect(messagesOf({ stderr }).at(-1)).toBe('crawl ended: cleared')
})

async function deleteAll(crawl: string): Promise<unknown> {
  const keys = (await redis.command('KEYS', `*pages?${crawl}*`)) as string[]
  return redis.command('DEL', ...keys)
}
