/** One output of a fixed name that exists only as a whole, in a crawl of several workers and several runs. */

import { readdirSync, readFileSync } from 'node:fs'
import { type FakeWebProcess, type RedisServer, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ClusterFolder, freshCrawlId, messagesOf } from './cluster-crawl.ts'

const LONG = { timeout: 120_000 }

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

const folderOf = (web: FakeWebProcess, name: string, more = {}) =>
  ClusterFolder.of(web, {
    REDIS_URL: redis.url,
    CRAWL_ID: freshCrawlId(name),
    CONCURRENT_REQUESTS: 4,
    LOG_FORMAT: 'json',
    ...more,
  })
const worker = (folder: ClusterFolder, ...words: string[]) =>
  folder.begin('worker', 'pages', '-o', 'fixed.json', ...words)
const outputs = (folder: ClusterFolder) =>
  readdirSync(folder.path('.')).filter((name) => name.startsWith('fixed.json'))
const urlsIn = (folder: ClusterFolder, name = 'fixed.json') =>
  (JSON.parse(readFileSync(folder.path(name), 'utf8')) as { url: string }[]).map(({ url }) => url)

/** What the worker that is stopped in the middle of the crawl has written. */
async function stopped(web: FakeWebProcess, folder: ClusterFolder): Promise<string[]> {
  // It is slow until then: what is not fetched yet must be enough for the next one.
  const first = worker(folder, '-s', 'DOWNLOAD_DELAY=0.5')
  await web.waitForHits(4, 60_000)
  first.kill('SIGTERM')
  await first.exited
  const urls = urlsIn(folder)
  expect(urls.length).toBeGreaterThan(0)
  return urls
}

test.concurrent(
  'stopped without SCHEDULER_PERSIST: the next run begins anew, and what was written is kept and told',
  LONG,
  async () => {
    await using web = await startFakeWebProcess({ hosts: 1, pagesPerHost: 20 })
    await using folder = await folderOf(web, 'anew')
    const before = await stopped(web, folder)
    const next = await worker(folder).exited
    expect(next.code, next.stderr).toBe(0)
    expect(urlsIn(folder).sort()).toEqual([...web.reachable()].sort())
    const [kept, ...others] = outputs(folder).filter((name) => name !== 'fixed.json')
    expect(others).toEqual([])
    expect(urlsIn(folder, kept)).toEqual(before)
    expect(messagesOf(next).filter((message) => message.includes(kept!))).toHaveLength(1)
  },
)

test.concurrent('stopped with SCHEDULER_PERSIST: the next worker makes the whole output', LONG, async () => {
  await using web = await startFakeWebProcess({ hosts: 1, pagesPerHost: 20 })
  await using folder = await folderOf(web, 'resumed', { SCHEDULER_PERSIST: true })
  await stopped(web, folder)
  const next = await worker(folder).exited
  expect(next.code, next.stderr).toBe(0)
  expect(urlsIn(folder).sort()).toEqual([...web.reachable()].sort())
  expect(outputs(folder)).toEqual(['fixed.json'])
})

test.concurrent(
  'two workers at once: one has it to its end, the other is refused in words',
  LONG,
  async () => {
    await using web = await startFakeWebProcess({ hosts: 1, pagesPerHost: 20 })
    // The crawl takes longer than one of them can begin after the other, as both are started at once.
    await using folder = await folderOf(web, 'shared', { DOWNLOAD_DELAY: 0.5 })
    const ended = await Promise.all([worker(folder), worker(folder)].map(({ exited }) => exited))
    const [whole, refused] = ended.sort((one, other) => Number(one.code) - Number(other.code))
    expect(refused!.code, whole!.stderr).toBe(2)
    expect(refused!.stderr).toMatch(
      /only jsonl may be shared\. Give each worker a file of its own with %\(worker\)s/,
    )
    expect(whole!.code, whole!.stderr).toBe(0)
    expect(urlsIn(folder).sort()).toEqual([...web.reachable()].sort())
    expect(outputs(folder)).toEqual(['fixed.json'])
  },
)
