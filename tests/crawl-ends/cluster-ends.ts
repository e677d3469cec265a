/** How crawls of several workers end early, or are cleared, for each mode of the queue and each limit. */

import { type FakeWebProcess, type RedisServer, startFakeWebProcess } from '@webloom/testkit'
import { expect } from 'vitest'
import {
  ClusterFolder,
  fetchCounts,
  freshCrawlId,
  messagesOf,
  messagesOfOwn,
  seededSpider,
  settingsOf,
} from '../cluster/cluster-crawl.ts'
import { expectWoken } from './expect-woken.ts'

export type Mode = 'turns' | 'job'

/** The setting, its value, the reason with which the crawl ends, and the stat that is counted. */
export type Limit = readonly [name: string, limit: number, reason: string, counter: string]

const settings = (redis: RedisServer, name: string, more: Readonly<Record<string, unknown>> = {}) =>
  settingsOf(redis, name, { CONCURRENT_REQUESTS: 4, ...more })

/** Two workers end together when all of them have come to it. */
export async function limited(redis: RedisServer, [name, limit, reason, counter]: Limit): Promise<void> {
  await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 500, latencyMs: 100 })
  await using folder = await ClusterFolder.of(web, settings(redis, name.toLowerCase(), { [name]: limit }))
  const workers = [folder.worker('a'), folder.worker('b')]
  for (const worker of workers) {
    const { code, stderr } = await worker.exited
    expect(code, stderr).toBe(0)
    expect(messagesOf({ stderr }).at(-1)).toBe(`crawl ended: ${reason}`)
  }
  const seen = JSON.parse((await folder.run('status', 'pages', '--json')).stdout)
  expect(seen).toMatchObject({ state: 'stopped', finishReason: reason })
  expect(seen.stats[counter]).toBeGreaterThanOrEqual(limit)
  // Each worker knows the others' counts of a second ago: 40 pages a second for each, and what is in flight.
  expect(seen.stats[counter]).toBeLessThan(limit + 400)
}

/** One that closes at so many pages warns of its deleted requests alone. */
export async function closedEarly(redis: RedisServer, mode: Mode): Promise<void> {
  await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 100 })
  const closing = settings(redis, `closing-${mode}`, {
    QUEUE_MODE: mode,
    CLOSESPIDER_PAGECOUNT: 20,
    LOG_LEVEL: 'WARNING',
  })
  await using folder = await ClusterFolder.of(web, closing)
  const { code, stderr } = await folder.run('crawl', 'pages')
  expect(code).toBe(0)
  // Its deleted requests alone.
  expect(messagesOfOwn({ stderr })).toEqual([
    expect.stringMatching(/has ended early: the requests that still waited/),
  ])
  const kept = await folder.run('crawl', 'pages', '-s', 'SCHEDULER_PERSIST=true')
  expect(messagesOfOwn(kept)).toEqual([])
  expect(kept.stderr).toMatch(/kept in Redis at redis:.*To go on:\n {2}webloom crawl pages/s)
}

export async function stoppedEarly(redis: RedisServer, mode: Mode): Promise<void> {
  // The command that stops them may take a minute to start.
  await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 1000 })
  const stopped = settings(redis, `stopped-${mode}`, {
    QUEUE_MODE: mode,
    DOWNLOAD_DELAY: 0.2,
    LOG_LEVEL: 'WARNING',
  })
  await using folder = await ClusterFolder.of(web, stopped)
  const workers = [folder.worker('a'), folder.worker('b')]
  await web.waitForHits(10, 60_000)
  // What is set where the command runs is for nobody.
  const { code, stdout } = await folder.run('stop', 'pages', '-s', 'SCHEDULER_PERSIST=true')
  expect(code).toBe(0)
  expect(stdout).toMatch(/The last one empties queue and filter/)
  const ended = await Promise.all(workers.map(({ exited }) => exited))
  expect(ended.map(({ code }) => code)).toEqual([0, 0])
  expect(ended.flatMap(messagesOfOwn)).toEqual([expect.stringMatching(/has ended early/)])
}

export async function clearedWhole(redis: RedisServer, mode: Mode): Promise<void> {
  await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 5 })
  const cleared = settings(redis, `clean-${mode}`, {
    SCHEDULER_PERSIST: true,
    COOKIES_SHARED: true,
    QUEUE_MODE: mode,
  })
  await using folder = await ClusterFolder.of(web, cleared)
  const keys = async () => (await redis.command('KEYS', `*${cleared.CRAWL_ID}*`)) as string[]
  expect((await folder.run('crawl', 'pages')).code).toBe(0)
  expect((await keys()).length).toBeGreaterThan(3)
  expect((await folder.run('clear', 'pages')).code).toBe(0)
  // What its runs came to, until `webloom runs --forget`.
  expect((await keys()).map((key) => key.replace(/^.*:/, ''))).toEqual(['runs'])
  await folder.run('runs', 'pages', '--forget')
  expect(await keys()).toEqual([])
}

/** Seeds wake a finished crawl, and what was seen is seen. */
export async function wokenBySeeds(
  redis: RedisServer,
  command: 'worker' | 'crawl',
  settings: Readonly<Record<string, unknown>>,
): Promise<void> {
  await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 20, crossHostLinks: 0 })
  const key = freshCrawlId('woken:start_urls')
  const spider = seededSpider([], `redisKey = '${key}'`).replace('maxIdleTime = 2.5', 'maxIdleTime = 1')
  await using folder = await ClusterFolder.of(web, settings, spider)
  const fetched = async (...seeds: string[]) => {
    await redis.command('RPUSH', key, ...seeds)
    return fetchedBy(web, () => folder.run(command, 'pages'))
  }
  await expectWoken(web, fetched)
}

/** What that run fetched. */
export async function fetchedBy(
  web: FakeWebProcess,
  run: () => Promise<{ code: number | null; stderr: string }>,
) {
  await web.resetHits()
  const { code, stderr } = await run()
  expect(code, stderr).toBe(0)
  return new Set(fetchCounts(await web.hits()).keys())
}
