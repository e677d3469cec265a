/**
 * Some fifty crawls of three workers on small webs: none ends early, none hangs. And what cluster-ends.test.ts and
 * cluster-woken.test.ts show for turns and for one limit, for the others, with workers that are processes.
 */

import { type RedisServer, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ClusterFolder, fetchCounts, finishRound, settingsOf } from '../cluster/cluster-crawl.ts'
import { clearedWhole, closedEarly, fetchedBy, limited, stoppedEarly, wokenBySeeds } from './cluster-ends.ts'

const ROUNDS = 50

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

describe.each(['turns', 'job'] as const)('QUEUE_MODE=%s', (mode) => {
  test.each([3, 4, ...Array.from({ length: ROUNDS }, (_, n) => 100 + n)])('round %i', async (seed) => {
    await finishRound(seed, { redis, mode })
  })
})

test('limits count for the cluster: CLOSESPIDER_ITEMCOUNT', () =>
  limited(redis, ['CLOSESPIDER_ITEMCOUNT', 60, 'closespider_itemcount', 'item_scraped_count']))

test('QUEUE_MODE=job: an early end of one that closes at so many pages warns of what is deleted', () =>
  closedEarly(redis, 'job'))

test.each(['turns', 'job'] as const)(
  'QUEUE_MODE=%s: an early end of two workers that are stopped warns of what is deleted',
  (mode) => stoppedEarly(redis, mode),
)

test('QUEUE_MODE=job: webloom clear leaves no key of the crawl', () => clearedWhole(redis, 'job'))

test('seeds wake a finished crawl on Redis, and what was seen is seen', () =>
  wokenBySeeds(redis, 'worker', settingsOf(redis, 'woken', { SCHEDULER_PERSIST: true })))

test('seeds wake a finished crawl in a JOBDIR, and what was seen is seen', () =>
  wokenBySeeds(redis, 'crawl', { SEEDS_REDIS_URL: redis.url, JOBDIR: 'job', LOG_FORMAT: 'json' }))

test('SCHEDULER_PERSIST with redis-key and DUPEFILTER_TTL: the next crawl fetches what it has not seen', async () => {
  await using web = await startFakeWebProcess({ hosts: 1, pagesPerHost: 20 })
  const filter = { DUPEFILTER_CLASS: 'redis-key', DUPEFILTER_TTL: 600 }
  await using folder = await ClusterFolder.of(
    web,
    settingsOf(redis, 'again', { SCHEDULER_PERSIST: true, ...filter }),
  )
  const starts = new Set(web.seeds)
  expect(await fetchedBy(web, () => folder.run('crawl', 'pages'))).toEqual(web.linked())
  expect(await fetchedBy(web, () => folder.run('crawl', 'pages'))).toEqual(starts)
  expect(await fetchedBy(web, () => folder.worker('new', '--new').exited)).toEqual(starts)
  const flushing = () => folder.run('crawl', 'pages', '-s', 'SCHEDULER_FLUSH_ON_START=true')
  expect(await fetchedBy(web, flushing)).toEqual(web.linked())
})

test('stopped, without SCHEDULER_PERSIST: the next worker begins anew', async () => {
  await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 100 })
  await using folder = await ClusterFolder.of(web, settingsOf(redis, 'anew', { CONCURRENT_REQUESTS: 4 }))
  // Slow until it is stopped: the command that does so takes a while to start.
  folder.configure({ DOWNLOAD_DELAY: 2 })
  const first = folder.worker('a')
  await web.waitForHits(6, 60_000)
  expect((await folder.run('stop', 'pages')).code).toBe(0)
  const { code: firstCode, stderr: firstSaid } = await first.exited
  expect(firstCode, firstSaid).toBe(0)
  expect(firstSaid).not.toContain('older state')
  await web.resetHits()
  folder.configure({})
  const { code, stderr } = await folder.worker('b').exited
  expect(code, stderr).toBe(0)
  const counts = fetchCounts(await web.hits())
  expect(new Set(counts.keys())).toEqual(web.linked())
  expect(new Set(counts.values())).toEqual(new Set([1]))
})
