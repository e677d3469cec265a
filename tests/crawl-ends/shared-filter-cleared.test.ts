/** `webloom clear` of a crawl whose dupefilter another crawl uses. */

import { clearCrawl, crawlRedisKeys } from '@webloom/queue'
import { type FakeWeb, type RedisServer, startFakeWeb, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Spider } from 'webloom'
import { assemble } from '../../packages/webloom/src/assembly/assemble.ts'
import { clear } from '../../packages/webloom/src/commands/crawl-control.ts'
import { listeningLogger } from '../crawls/crawl-web.ts'

let redis: RedisServer
let web: FakeWeb
beforeAll(async () => {
  ;[redis, web] = await Promise.all([startRedis(), startFakeWeb({ seed: 5, hosts: 2, pagesPerHost: 5 })])
})
afterAll(() => Promise.all([redis.stop(), web[Symbol.asyncDispose]()]))

class Pages extends Spider {
  override name = 'pages'
  override startUrls = [...web.seeds]
  override *parse(): Generator<unknown> {}
}

const FILTER = { SCHEDULER_DUPEFILTER_KEY: 'shared', DOWNLOAD_DELAY: 60 }

/** Also of a crawl whose record is gone. */
const clearing = (crawlId: string, force: boolean) => {
  const set = [`REDIS_URL=${redis.url}`, `CRAWL_ID=${crawlId}`, 'SCHEDULER_DUPEFILTER_KEY=shared']
  const nowhere = { path: import.meta.dirname, folder: import.meta.dirname, spiders: [], settings: {} }
  return clear(Pages, { set, force }, nowhere)
}

test('nothing is deleted while the other crawl asks it, unless that is forced', async () => {
  const { logger } = listeningLogger()
  vi.spyOn(console, 'log').mockReturnValue()
  const other = await assemble(Pages, {
    layers: { command: { REDIS_URL: redis.url, CRAWL_ID: 'other', ...FILTER } },
    folder: import.meta.dirname,
    createLogger: () => logger,
  })
  const crawled = other.run()
  await web.waitForHits(1)
  // The other crawl goes on, and makes the record anew as its page ends.
  await redis.command('HSET', '{shared}:record', 'before', '1')
  const seen = () => redis.command('HEXISTS', '{shared}:record', 'before')
  await expect(clearing('lost', false)).rejects.toThrow(
    /also that of crawl "pages" \(CRAWL_ID other\), .* Nothing was deleted. .*webloom clear pages -s CRAWL_ID=lost -s REDIS_URL=\S+ -s SCHEDULER_DUPEFILTER_KEY=shared --force$/,
  )
  expect(await seen()).toBe(1)
  await clearing('lost', true)
  expect(await seen()).toBe(0)
  other.stop('enough')
  await crawled
})

test('one of the same name on another queue’s Redis keeps it, too', async () => {
  await using elsewhere = await startRedis()
  const { logger } = listeningLogger()
  vi.spyOn(console, 'log').mockReturnValue()
  const since = web.hits.length
  const other = await assemble(Pages, {
    layers: {
      command: {
        REDIS_URL: elsewhere.url,
        DUPEFILTER_REDIS_URL: redis.url,
        CRAWL_ID: 'namesake',
        ...FILTER,
      },
    },
    folder: import.meta.dirname,
    createLogger: () => logger,
  })
  const crawled = other.run()
  await web.waitForHits(since + 1)
  await expect(clearing('namesake', false)).rejects.toThrow(/that of a crawl of the same name, on another/)
  expect(await redis.command('EXISTS', '{shared}:record')).toBe(1)
  other.stop('enough')
  await crawled
})

test('a clearing that was cut off is done to its end by the same line: the run in the filter is its own', async () => {
  const { logger } = listeningLogger()
  vi.spyOn(console, 'log').mockReturnValue()
  const since = web.hits.length
  const own = { REDIS_URL: redis.url, CRAWL_ID: 'cut', SCHEDULER_PERSIST: true, ...FILTER }
  const options = { layers: { command: own }, folder: import.meta.dirname, createLogger: () => logger }
  const one = await assemble(Pages, options)
  const crawled = one.run()
  await web.waitForHits(since + 1)
  one.stop('enough')
  await crawled
  const client = new Redis(redis.port)
  const crawl = { redis: client, keys: crawlRedisKeys({ spider: 'pages', crawlId: 'cut' }), statsKey: 'cut' }
  const cutOff = clearCrawl({ ...crawl, clear: () => Promise.reject(new Error('cut off')) })
  await expect(cutOff).rejects.toThrow('cut off')
  client.disconnect()
  expect(await redis.command('EXISTS', '{shared}:record')).toBe(1)
  await clearing('cut', false)
  expect(await redis.command('EXISTS', '{shared}:record')).toBe(0)
})
