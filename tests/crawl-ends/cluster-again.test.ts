/** A crawl that is begun anew, or goes on after its end, and what it knows of the one before. */

import { startFakeWebProcess, startRedis } from '@webloom/testkit'
import { afterAll, expect, test } from 'vitest'
import { ClusterFolder, freshCrawlId, seededSpider, settingsOf } from '../cluster/cluster-crawl.ts'
import { clearedWhole, fetchedBy } from './cluster-ends.ts'

const LONG = { timeout: 180_000 }

const redis = await startRedis()
afterAll(() => redis.stop())

const settings = (name: string, more: Readonly<Record<string, unknown>> = {}) => settingsOf(redis, name, more)

test.concurrent.each([
  ['on Redis', () => settings('woken', { SCHEDULER_PERSIST: true }), 'worker'],
  ['in a JOBDIR', () => ({ SEEDS_REDIS_URL: redis.url, JOBDIR: 'job', LOG_FORMAT: 'json' }), 'crawl'],
])('seeds wake a finished crawl %s, and what was seen is seen', LONG, async (_, settingsOf, command) => {
  await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 20, crossHostLinks: 0 })
  const key = freshCrawlId('woken:start_urls')
  const spider = seededSpider([], `redisKey = '${key}'`).replace('maxIdleTime = 2.5', 'maxIdleTime = 1')
  await using folder = await ClusterFolder.of(web, settingsOf(), spider)
  const [one, two] = web.seeds as [string, string]
  const fetched = async (...seeds: string[]) => {
    await redis.command('RPUSH', key, ...seeds)
    return fetchedBy(web, () => folder.run(command, 'pages'))
  }
  const first = await fetched(one)
  expect(first).toContain(one)
  const second = await fetched(two)
  expect(second).toContain(two)
  expect(new Set([...first, ...second])).toEqual(web.linked())
  expect([...second].filter((url) => first.has(url))).toEqual([])
  expect(await fetched(one)).toEqual(new Set([one]))
})

test.concurrent('webloom clear leaves no key of the crawl', LONG, () => clearedWhole(redis, 'turns'))
