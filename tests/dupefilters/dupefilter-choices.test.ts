/** The dupefilters by name: one setting chooses each, and what settings do not allow is refused at the start. */

import { type RedisServer, startFakeWeb, startRedis, tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { crawl, type Response, type SettingsInput, Spider } from 'webloom'
import type { Logger } from 'webloom/ports'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(() => redis.command('FLUSHALL'))

const onRedis = (more: SettingsInput): SettingsInput => ({ REDIS_URL: redis.url, ...more })

function pages(startUrls: string[]) {
  return class Pages extends Spider {
    override name = 'pages'
    override startUrls = startUrls
    override *parse(response: Response): Generator<unknown> {
      yield* response.followAll()
    }
  }
}

test.each<[string, () => SettingsInput]>([
  ['memory-bloom', () => ({ DUPEFILTER_CLASS: 'memory-bloom' })],
  ['memory-bloom by host', () => ({ DUPEFILTER_CLASS: 'memory-bloom', BLOOMFILTER_PARTITION_BY: 'host' })],
  ['counting-bloom in memory', () => ({ DUPEFILTER_CLASS: 'counting-bloom', BLOOMFILTER_BIT: 20 })],
  ['counting-bloom', () => onRedis({ DUPEFILTER_CLASS: 'counting-bloom', BLOOMFILTER_CAPACITY: 10_000 })],
  ['redis-key', () => onRedis({ DUPEFILTER_CLASS: 'redis-key', DUPEFILTER_TTL: 60 })],
  [
    'redis-bloom by host',
    () => onRedis({ DUPEFILTER_CLASS: 'redis-bloom', BLOOMFILTER_PARTITION_BY: 'host' }),
  ],
])('%s finds every page of two hosts, each once', async (_name, settings) => {
  await using web = await startFakeWeb({ seed: 7, hosts: 2, pagesPerHost: 30 })
  await crawl(pages([...web.seeds]), { settings: settings(), logger: silent })
  for (const url of web.reachable()) expect(web.countOf(url), url).toBe(1)
})

test('with redis-key a second crawl fetches what has expired, and nothing else', async () => {
  await using web = await startFakeWeb({ seed: 8, pagesPerHost: 20 })
  const settings = onRedis({ DUPEFILTER_CLASS: 'redis-key', DUPEFILTER_TTL: 3600, SCHEDULER_PERSIST: true })
  const isShort = (url: string) => url.includes('1')
  class Pages extends Spider {
    override name = 'pages'
    override startUrls = [...web.seeds]
    override *parse(response: Response): Generator<unknown> {
      for (const request of response.followAll()) {
        if (isShort(request.url)) request.meta.dedupTtl = 0.5
        yield request
      }
    }
  }
  await crawl(Pages, { settings, logger: silent })
  const before = new Map([...web.reachable()].map((url) => [url, web.countOf(url)]))
  const lasting = [...before.keys()].filter((url) => !isShort(url) || web.seeds.includes(url))
  await vi.waitFor(async () =>
    expect(await redis.command('KEYS', '{pages:dupefilter}:met:*')).toHaveLength(lasting.length),
  )
  await crawl(Pages, { settings, logger: silent })
  for (const [url, times] of before) {
    const isAgain = web.seeds.includes(url) || (isShort(url) && web.countOf(url) > times)
    expect(web.countOf(url) - times, url).toBe(isAgain ? 1 : 0)
  }
  expect([...before].some(([url, times]) => isShort(url) && web.countOf(url) > times)).toBe(true)
})

test.each<[string, () => SettingsInput, string]>([
  [
    'redis-key without a lifetime',
    () => onRedis({ DUPEFILTER_CLASS: 'redis-key' }),
    'DUPEFILTER_TTL does not say',
  ],
  [
    'redis-key without Redis',
    () => ({ DUPEFILTER_CLASS: 'redis-key', DUPEFILTER_TTL: 1 }),
    'no Redis is named',
  ],
  [
    'counting-bloom by host',
    () => ({ DUPEFILTER_CLASS: 'counting-bloom', BLOOMFILTER_PARTITION_BY: 'host' }),
    'which is one filter for all hosts',
  ],
  [
    'bits of a Python fork in memory',
    () => ({ DUPEFILTER_CLASS: 'memory-bloom', BLOOMFILTER_COMPAT: 'germey' }),
    'BLOOMFILTER_COMPAT is germey',
  ],
  [
    'counting-bloom that grows',
    () => ({ DUPEFILTER_CLASS: 'counting-bloom', BLOOMFILTER_ON_FULL: 'grow' }),
    'a counting Bloom filter cannot grow',
  ],
])('%s is refused at the start', async (_what, settings, message) => {
  await expect(crawl(pages([]), { settings: settings(), logger: silent })).rejects.toThrow(message)
})

test.each(['memory-bloom', 'counting-bloom'])('%s beside a JOBDIR is refused', async (name) => {
  await using folder = await tempDir()
  const settings = { JOBDIR: folder.join('job'), DUPEFILTER_CLASS: name }
  await expect(crawl(pages([]), { settings, logger: silent })).rejects.toThrow(
    `DUPEFILTER_CLASS is ${name}, and JOBDIR is set`,
  )
})
