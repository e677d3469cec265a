/** Crawls on Redis that come back to their pages (RECRAWL), and what those pay that do not. */

import { type RedisServer, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { fingerprint, Request } from 'webloom'
import { Days, pathsOf, Shop } from './recrawl-days.ts'

const PACE_MS = 100

let server: RedisServer
let redis: Redis
beforeAll(async () => {
  server = await startRedis()
  redis = new Redis(server.url)
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

test('a run each day asks for each page once, and writes what has changed', async () => {
  await using days = await Days.of({ pages: 12 })
  const settings = { REDIS_URL: server.url, CRAWL_ID: 'daily' }
  await days.run(0, settings)
  expect(days.items).toHaveLength(12)
  const first = pathsOf(days.web.asked())
  await days.run(1, settings)
  expect(days.web.asked()).toEqual([])
  days.web.change('/p/7')
  await days.run(23, settings)
  const second = days.web.asked()
  expect(pathsOf(second)).toEqual(first)
  expect(second.filter(({ status }) => status === 304).length).toBeGreaterThan(9)
  expect(days.items.map(({ path, visitsBefore }) => [path, visitsBefore])).toEqual([['/p/7', 1]])
  const totals = await redis.hgetall('webloom:{shop@daily}:visits:counts')
  expect(totals).toMatchObject({ pages: '13' })
})

test('pages that are due keep to the pace of their host, also with two workers', async () => {
  await using days = await Days.of({ pages: 10 })
  const settings = {
    REDIS_URL: server.url,
    CRAWL_ID: 'paced',
    DOWNLOAD_DELAY: PACE_MS / 1000,
    RANDOMIZE_DOWNLOAD_DELAY: false,
  }
  await days.run(0, { ...settings, DOWNLOAD_DELAY: 0 })
  days.web.asked()
  await Promise.all([days.run(24, settings), days.run(0, settings)])
  const asked = days.web.asked()
  expect(new Set(pathsOf(asked)).size).toBe(11)
  expect(asked).toHaveLength(11)
  const gapsMs = asked.slice(1).map(({ atMs }, n) => atMs - asked[n]!.atMs)
  // What is sent at its moment may be heard a little late, and the next at its own.
  for (const ms of gapsMs) expect(ms).toBeGreaterThan(PACE_MS / 2)
  expect(asked.at(-1)!.atMs - asked[0]!.atMs).toBeGreaterThan(9.5 * PACE_MS)
})

/** Its start page comes after the others, when these have been visited. */
class LastOfAll extends Shop {
  override async *start() {
    for (const url of this.startUrls) yield new Request(url, { priority: -10, dontFilter: true })
  }
}

test('a filter that has lost what it knew brings no page a second visit', async () => {
  await using days = await Days.of({ pages: 12 })
  const settings = { REDIS_URL: server.url, CRAWL_ID: 'lost' }
  await days.run(0, settings, LastOfAll)
  const first = pathsOf(days.web.asked())
  const key = 'shop:lost:dupefilter'
  expect(await redis.scard(key)).toBe(13)
  const [, ...lost] = await redis.smembers(key)
  await redis.srem(key, ...lost)
  // It shows its links again.
  days.web.change('/')
  await days.run(24, settings, LastOfAll)
  expect(pathsOf(days.web.asked())).toEqual(first)
})

test('a Redis that refuses even reads for a while does not end a crawl that asks it which pages were visited', async () => {
  await using days = await Days.of({ pages: 3 })
  await using filter = await startRedis()
  await using queue = await startRedis({ config: { 'replica-serve-stale-data': 'no' } })
  days.web.onAsked = async () => {
    days.web.onAsked = undefined
    // As after a fail-over: what was the master is a replica now. No server listens on port 1.
    await queue.command('REPLICAOF', '127.0.0.1', '1')
  }
  const asking = 'asking which pages were visited'
  days.onSaid = (message) => {
    if (message.startsWith(`${asking} must wait`)) void queue.command('REPLICAOF', 'NO', 'ONE')
  }
  const urls = { REDIS_URL: queue.url, DUPEFILTER_REDIS_URL: [filter.url] }
  const { finishReason } = await days.run(0, { ...urls, CRAWL_ID: 'refusing' })
  expect(finishReason).toBe('finished')
  expect(days.items).toHaveLength(3)
  expect(days.said).toContain(`${asking} goes on: Redis accepts it again`)
})

test('a run that would find no page, as their fingerprints are others now, is refused', async () => {
  await using days = await Days.of({ pages: 3 })
  const settings = { REDIS_URL: server.url, CRAWL_ID: 'other-fingerprints' }
  await days.run(0, settings)
  const first = pathsOf(days.web.asked())
  await redis.del('shop:other-fingerprints:dupefilter')
  const run = days.run(24, { ...settings, FINGERPRINTER: ({ url }: Request) => `page ${url}` })
  await expect(run).rejects.toThrow(
    /kept under other fingerprints.* webloom clear shop -s CRAWL_ID=other-fingerprints -s REDIS_URL=redis:\S+, or/,
  )
  await days.run(0, settings)
  expect(pathsOf(days.web.asked())).toEqual(first)
})

test('a page of which FINGERPRINTER makes another fingerprint than before is visited at its hour, with what is known of it', async () => {
  await using days = await Days.of({ pages: 9 })
  const settings = { REDIS_URL: server.url, CRAWL_ID: 'moved' }
  await days.run(0, { ...settings, FINGERPRINTER: (request: Request) => fingerprint(request) })
  const first = pathsOf(days.web.asked())
  const FINGERPRINTER = (request: Request) =>
    request.url.endsWith('/p/3') ? 'the third' : fingerprint(request)
  for (const visitsBefore of [1, 2]) {
    days.web.change('/p/3')
    const { stats } = await days.run(24, { ...settings, FINGERPRINTER })
    expect(pathsOf(days.web.asked())).toEqual(first)
    expect(days.items).toMatchObject([{ path: '/p/3', visitsBefore }])
    expect(stats['recrawl/moved_count'] ?? 0).toBe(visitsBefore === 1 ? 1 : 0)
  }
})

test('a run without RECRAWL that would take queued pages out of their schedule is refused, also one that begins anew', async () => {
  await using days = await Days.of({ pages: 9 })
  const settings = { REDIS_URL: server.url, CRAWL_ID: 'stopped', CONCURRENT_REQUESTS: 1 }
  await days.run(0, settings)
  await days.run(24, { ...settings, CLOSESPIDER_PAGECOUNT: 2 })
  const off = { ...settings, RECRAWL: 'off' as const }
  await expect(days.run(1, off)).rejects.toThrow('RECRAWL is off, and the crawl that goes on here')
  await expect(days.run(1, { ...off, SCHEDULER_FLUSH_ON_START: true })).rejects.toThrow(
    `webloom clear shop -s CRAWL_ID=stopped -s REDIS_URL=${server.url}, or set another CRAWL_ID`,
  )
})

test('a run without RECRAWL after a whole one is refused, and fetches nothing', async () => {
  await using days = await Days.of({ pages: 2 })
  const settings = { REDIS_URL: server.url, CRAWL_ID: 'whole' }
  await days.run(0, settings)
  days.web.asked()
  await expect(days.run(1, { ...settings, RECRAWL: 'off' })).rejects.toThrow('-s RECRAWL=adaptive')
  await days.run(0, settings)
  expect(days.web.asked()).toEqual([])
  await days.run(23, settings)
  expect(days.web.asked()).toHaveLength(3)
})

test('a crawl without RECRAWL asks once whether visits are kept, and touches no key of them besides', async () => {
  await using days = await Days.of({ pages: 10 })
  const touched: string[] = []
  const monitor = await redis.monitor()
  monitor.on('monitor', (_time: string, args: string[]) => {
    if (args.some((arg) => arg.includes(':visits'))) touched.push(args[0]!)
  })
  await days.run(0, { REDIS_URL: server.url, CRAWL_ID: 'once', RECRAWL: 'off' })
  monitor.disconnect()
  expect(days.items).toHaveLength(10)
  expect(touched).toEqual(['hmget'])
})

test('QUEUE_MODE=job is refused', async () => {
  await using days = await Days.of({ pages: 1 })
  const settings = { REDIS_URL: server.url, QUEUE_MODE: 'job' as const }
  await expect(days.run(0, settings)).rejects.toThrow('Set QUEUE_MODE=turns')
})
