/** A crawl that is begun anew, or goes on after its end, and what it knows of the one before. */

import { type FakeWebProcess, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { afterAll, expect, test } from 'vitest'
import {
  ClusterFolder,
  fetchCounts,
  freshCrawlId,
  seededSpider,
  settingsOf,
} from '../cluster/cluster-crawl.ts'
import { clearedWhole } from './cluster-ends.ts'

const LONG = { timeout: 180_000 }

const redis = await startRedis()
afterAll(() => redis.stop())

const settings = (name: string, more: Readonly<Record<string, unknown>> = {}) => settingsOf(redis, name, more)

/** What that run fetched. */
async function fetchedBy(web: FakeWebProcess, run: () => Promise<{ code: number | null; stderr: string }>) {
  await web.resetHits()
  const { code, stderr } = await run()
  expect(code, stderr).toBe(0)
  return new Set(fetchCounts(await web.hits()).keys())
}

test.concurrent(
  'SCHEDULER_PERSIST with redis-key and DUPEFILTER_TTL: the next crawl fetches what it has not seen',
  LONG,
  async () => {
    await using web = await startFakeWebProcess({ hosts: 1, pagesPerHost: 20 })
    const filter = { DUPEFILTER_CLASS: 'redis-key', DUPEFILTER_TTL: 600 }
    await using folder = await ClusterFolder.of(
      web,
      settings('again', { SCHEDULER_PERSIST: true, ...filter }),
    )
    const starts = new Set(web.seeds)
    expect(await fetchedBy(web, () => folder.run('crawl', 'pages'))).toEqual(web.linked())
    expect(await fetchedBy(web, () => folder.run('crawl', 'pages'))).toEqual(starts)
    expect(await fetchedBy(web, () => folder.worker('new', '--new').exited)).toEqual(starts)
    const flushing = () => folder.run('crawl', 'pages', '-s', 'SCHEDULER_FLUSH_ON_START=true')
    expect(await fetchedBy(web, flushing)).toEqual(web.linked())
  },
)

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
