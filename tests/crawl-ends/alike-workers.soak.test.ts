/** What becomes of a worker that comes to a crawl with other settings than the crawl, or the workers at work on it, have. */

import { scaledTimes } from '@webloom/core'
import { crawlRedisKeys } from '@webloom/queue'
import { startFakeWeb } from '@webloom/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { RedisSpider, type SettingsInput } from 'webloom'
import { RedisBench } from '../../packages/queue/testing/redis-bench.ts'
import { assemble } from '../../packages/webloom/src/assembly/assemble.ts'
import { listeningLogger } from '../crawls/crawl-web.ts'

const bench = new RedisBench()
const keys = crawlRedisKeys({ spider: 'pages', crawlId: null })
beforeAll(() => bench.start())
afterAll(() => bench.stop())
beforeEach(() => bench.redis.flushall())

class Pages extends RedisSpider {
  override readonly name = 'pages'
  override async *parse(): AsyncGenerator<unknown> {}
}

/** A worker that waits for seeds until it is told to end. */
async function worker(settings: SettingsInput, stays = true) {
  const { lines, logger } = listeningLogger()
  const crawl = await assemble(Pages, {
    folder: import.meta.dirname,
    layers: { command: { REDIS_URL: bench.server.url, SEEDS_TRUSTED: true, ...settings } },
    createLogger: () => logger,
    part: { begins: false, isWorker: true },
    times: scaledTimes(0.2),
    stays,
  })
  const running = crawl.run()
  const isAtWork = async () => {
    await expect.poll(() => bench.redis.hlen(keys.workers), { interval: 10 }).toBeGreaterThan(0)
  }
  const end = async () => {
    crawl.stop('shutdown')
    await running
  }
  return { running, isAtWork, end, words: () => lines.map(({ message }) => message).join('\n') }
}

const refused = async (settings: SettingsInput) => {
  const before = await bench.redis.hgetall(keys.record)
  const one = await worker(settings)
  const error = await one.running.then(
    () => undefined,
    (error: Error) => error,
  )
  expect(await bench.redis.hget(keys.record, 'alike')).toBe(before.alike)
  return error?.message
}

test('while workers are at work, one with another RECRAWL or SCHEDULER_PERSIST is refused, one with another pace or order is told', async () => {
  const first = await worker({ DOWNLOAD_DELAY: 2, CONCURRENT_REQUESTS: 3 })
  await first.isAtWork()
  expect(await refused({ DOWNLOAD_DELAY: 2, SCHEDULER_PERSIST: true })).toMatch(
    /^SCHEDULER_PERSIST is true, and the workers at work on crawl "pages" have false: .*Give this worker -s SCHEDULER_PERSIST=false, end the others first: webloom stop pages/,
  )
  expect(await refused({ DOWNLOAD_DELAY: 2, RECRAWL: 'fixed' })).toMatch(
    /^RECRAWL is fixed, .* -s RECRAWL=off/,
  )

  const second = await worker({ SCHEDULER_QUEUE_CLASS: 'fifo', CONCURRENT_REQUESTS: 5 })
  await expect.poll(() => bench.redis.hlen(keys.workers), { interval: 10 }).toBe(2)
  expect(second.words()).toMatch(
    /have other settings than this one. DOWNLOAD_DELAY is 0 here and 2 there: .*; SCHEDULER_QUEUE_CLASS is fifo here and priority there: .*To have theirs: -s DOWNLOAD_DELAY=2 -s SCHEDULER_QUEUE_CLASS=priority$/m,
  )
  expect(second.words()).not.toContain('CONCURRENT_REQUESTS is')
  await Promise.all([first.end(), second.end()])

  // Whoever is alone goes on with its own, and nobody is told.
  const third = await worker({ SCHEDULER_PERSIST: true, SCHEDULER_QUEUE_CLASS: 'lifo' })
  await third.isAtWork()
  expect(third.words()).not.toContain('other settings')
  await third.end()
})

test('lines by host stay lines by host as long as anything waits there; what an earlier release has begun goes on', async () => {
  await using web = await startFakeWeb({ hosts: 1, pagesPerHost: 5 })
  const begun = { SCHEDULER_PERSIST: true, POLITENESS_GROUP_BY: 'domain' } as const
  await bench.redis.rpush('pages:start_urls', ...web.seeds, `${web.seeds[0]}?2`, `${web.seeds[0]}?3`)
  const first = await worker({
    ...begun,
    CLOSESPIDER_PAGECOUNT: 1,
    CONCURRENT_REQUESTS: 1,
    DOWNLOAD_DELAY: 1,
  })
  await first.running
  const other = { ...begun, POLITENESS_GROUP_BY: 'host' } as const
  const words =
    /^POLITENESS_GROUP_BY is host, and crawl "pages" was begun with domain: .*Go on with -s POLITENESS_GROUP_BY=domain until nothing waits there, or begin it anew: webloom clear pages -s REDIS_URL=\S+$/
  expect(await refused(other)).toMatch(words)
  await bench.redis.hdel(keys.record, 'alike')
  const joined = await worker({
    ...other,
    CLOSESPIDER_PAGECOUNT: 1,
    CONCURRENT_REQUESTS: 1,
    DOWNLOAD_DELAY: 1,
  })
  await joined.running
  expect(JSON.parse((await bench.redis.hget(keys.record, 'alike'))!)).toMatchObject({
    POLITENESS_GROUP_BY: 'host',
  })

  const all = await worker({ ...other, MAX_IDLE_TIME_BEFORE_CLOSE: 1 }, false)
  await all.running
  const changed = await worker(begun)
  await changed.isAtWork()
  await changed.end()
})
