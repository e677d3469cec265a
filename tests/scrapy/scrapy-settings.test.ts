/** Settings that people bring along from Scrapy and scrapy-redis: each is acted on, or one line says what follows. */

import { type RedisServer, startFakeWeb, startRedis, tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { crawl, Request, type Response, type SettingsInput, Spider } from 'webloom'
import { listening } from '../crawls/listening.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(() => redis.command('FLUSHALL'))

describe('DUPEFILTER_CLASS=scrapy.dupefilters.BaseDupeFilter filters nothing', () => {
  const placesOf: [string, (folder: string) => SettingsInput][] = [
    ['in memory', () => ({})],
    ['in a JOBDIR', (folder) => ({ JOBDIR: folder })],
    ['on Redis', () => ({ REDIS_URL: redis.url })],
    ['on Redis, a job a request', () => ({ REDIS_URL: redis.url, QUEUE_MODE: 'job' })],
  ]
  test.each(placesOf)('%s', async (_place, settingsIn) => {
    await using web = await startFakeWeb({ seed: 3, pagesPerHost: 4 })
    await using dir = await tempDir()
    const [url] = web.seeds as [string]
    class Thrice extends Spider {
      override name = 'thrice'
      override startUrls = [url]
      override *parse(response: Response): Generator<unknown> {
        const depth = Number(response.meta.depth ?? 0)
        // Twice on one page, and met again on each of the pages that follow.
        if (depth < 2) for (let n = 0; n < 2; n++) yield new Request(url)
      }
    }
    const { logger } = listening()
    const settings = { DUPEFILTER_CLASS: 'scrapy.dupefilters.BaseDupeFilter', ...settingsIn(dir.join('job')) }
    const { finishReason } = await crawl(Thrice, { settings, logger })
    expect(finishReason).toBe('finished')
    expect(web.countOf(url)).toBe(1 + 2 + 4)
  })
})

describe('SCHEDULER=scrapy_redis.scheduler.Scheduler', () => {
  const SCHEDULER = 'scrapy_redis.scheduler.Scheduler'
  async function warningsOf(settings: SettingsInput): Promise<string[]> {
    await using web = await startFakeWeb({ seed: 3, pagesPerHost: 1 })
    class One extends Spider {
      override name = 'one'
      override startUrls = [...web.seeds]
    }
    const { logger, warnings } = listening()
    await crawl(One, { settings, logger })
    return warnings.filter((line) => line.includes('SCHEDULER'))
  }

  test('is what REDIS_URL makes of it: nothing needs to be said', async () => {
    expect(await warningsOf({ SCHEDULER, REDIS_URL: redis.url })).toEqual([])
    expect(await warningsOf({ SCHEDULER: 'scrapy.core.scheduler.Scheduler' })).toEqual([])
  })
  test('without a Redis one line says where the crawl is, and what to set', async () => {
    expect(await warningsOf({ SCHEDULER })).toEqual([expect.stringMatching(/in memory.*Set REDIS_URL=/)])
    await using dir = await tempDir()
    expect(await warningsOf({ SCHEDULER, JOBDIR: dir.join('job') })).toEqual([
      expect.stringMatching(/JOBDIR is set.*Unset JOBDIR/),
    ])
  })
  test('one of somebody’s own is not used, and that is said', async () => {
    expect(await warningsOf({ SCHEDULER: 'mine.Scheduler' })).toEqual([
      expect.stringMatching(/^SCHEDULER is mine\.Scheduler, and nothing is read of it/),
    ])
  })
})
