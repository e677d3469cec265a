/** Crawls whose dupefilter is on a real Redis, judged by what the fake web saw and by what Redis holds. */

import { hash } from 'node:crypto'
import {
  type FakeWeb,
  type FakeWebOptions,
  type RedisServer,
  startFakeWeb,
  startRedis,
} from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type CrawlResult,
  canonicalizeUrl,
  crawl,
  fingerprint,
  Request,
  type Response,
  type SettingsInput,
  Spider,
} from 'webloom'
import type { Logger } from 'webloom/ports'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(() => redis.command('FLUSHALL'))

async function crawlWeb(
  options: FakeWebOptions,
  settings: SettingsInput,
  judge: (web: FakeWeb, result: CrawlResult) => Promise<void> | void,
): Promise<void> {
  await using web = await startFakeWeb(options)
  class Pages extends Spider {
    override name = 'pages'
    override startUrls = [...web.seeds]
    override *parse(response: Response): Generator<unknown> {
      yield { url: response.url }
      yield* response.followAll()
    }
  }
  await judge(web, await crawl(Pages, { settings: { REDIS_URL: redis.url, ...settings }, logger: silent }))
}

/** Only the filter is on Redis. */
const filterAlone = (): SettingsInput => ({ REDIS_URL: null, DUPEFILTER_REDIS_URL: [redis.url] })

const eachOnce = (web: FakeWeb) => {
  for (const url of web.reachable()) expect(web.countOf(url), url).toBe(1)
}

describe('with REDIS_URL', () => {
  test('the filter is scrapy-redis’s set, with its key and its fingerprints', async () => {
    await crawlWeb({ seed: 1, pagesPerHost: 40 }, { SCHEDULER_PERSIST: true }, async (web) => {
      eachOnce(web)
      const members = (await redis.command('SMEMBERS', 'pages:dupefilter')) as string[]
      const expected = [...web.linked()].map((url) =>
        fingerprint(new Request(url), { algorithm: 'scrapy-redis' }),
      )
      expect(new Set(members)).toEqual(new Set(expected))
    })
  })

  test('what a Python crawler has seen is not fetched again', async () => {
    await using web = await startFakeWeb({ seed: 2, pagesPerHost: 30 })
    const met = web.page(web.seeds[0]!)!.links.slice(0, 3)
    for (const url of met) {
      await redis.command(
        'SADD',
        'pages:dupefilter',
        fingerprint(new Request(url), { algorithm: 'scrapy-redis' }),
      )
    }
    class Pages extends Spider {
      override name = 'pages'
      override startUrls = [...web.seeds]
      override *parse(response: Response): Generator<unknown> {
        yield* response.followAll()
      }
    }
    await crawl(Pages, { settings: { REDIS_URL: redis.url }, logger: silent })
    for (const url of met.filter((one) => one !== web.seeds[0])) expect(web.countOf(url), url).toBe(0)
  })

  test('a Bloom filter finds every page, and is sized by BLOOMFILTER_CAPACITY', async () => {
    const settings: SettingsInput = {
      DUPEFILTER_CLASS: 'redis-bloom',
      BLOOMFILTER_CAPACITY: 10_000,
      SCHEDULER_PERSIST: true,
    }
    await crawlWeb({ seed: 3, hosts: 2, pagesPerHost: 40 }, settings, async (web, { stats }) => {
      eachOnce(web)
      expect(stats.item_scraped_count).toBe(web.reachable().size)
      expect(Number(await redis.command('STRLEN', 'pages:bloomfilter'))).toBeLessThan(40_000)
    })
  })

  test.each([
    ['redis-set', { DUPEFILTER_DIGEST: 'md5' }, (url: string) => hash('md5', canonicalizeUrl(url))],
    ['redis-set', { DUPEFILTER_DIGEST: 'url' }, (url: string) => canonicalizeUrl(url)],
    [
      'redis-set',
      { DUPEFILTER_MEMBERS: 'binary16' },
      (url: string) => fingerprint(new Request(url), { algorithm: 'scrapy-redis' }).slice(0, 32),
    ],
  ] as [string, SettingsInput, (url: string) => string][])(
    '%s with %j: each page once, and the set holds just that',
    async (name, more, memberOf) => {
      const settings = {
        ...filterAlone(),
        DUPEFILTER_CLASS: name,
        SCHEDULER_PERSIST: true,
        CRAWL_ID: '7',
        ...more,
      }
      await crawlWeb({ seed: 6, pagesPerHost: 30 }, settings, async (web) => {
        eachOnce(web)
        const client = new Redis(redis.url)
        const found = await client.smembersBuffer('pages:7:dupefilter')
        client.disconnect()
        const encoding = more.DUPEFILTER_MEMBERS === undefined ? 'utf8' : 'hex'
        expect(new Set(found.map((member) => (member as Buffer).toString(encoding)))).toEqual(
          new Set([...web.linked()].map(memberOf)),
        )
      })
    },
  )

  test.each([
    { DUPEFILTER_DIGEST: 'url' },
    { DUPEFILTER_DIGEST: 'sha512', BLOOMFILTER_COMPAT: 'germey', BLOOMFILTER_BIT: 20 },
    { CANONICALIZER: 'normalize-url', DUPEFILTER_DIGEST: 'sha256' },
  ] as SettingsInput[])('a Bloom filter with %j: each page once', async (more) => {
    const settings: SettingsInput = {
      ...filterAlone(),
      DUPEFILTER_CLASS: 'redis-bloom',
      BLOOMFILTER_BIT: 22,
      ...more,
    }
    await crawlWeb({ seed: 7, pagesPerHost: 30 }, settings, eachOnce)
  })

  test('CANONICALIZER=normalize-url: a page linked with tracking parameters is fetched once, as it was linked first', async () => {
    await using web = await startFakeWeb({ seed: 8, pagesPerHost: 3 })
    const base = new URL(web.seeds[0]!).origin
    class Tracked extends Spider {
      override name = 'tracked'
      override *start() {
        yield new Request(`${base}/one?b=2&utm_source=mail&a=1`)
        yield new Request(`${base}/one?a=1&b=2`)
        yield new Request(`${base}/one/?a=1&b=2`)
      }
      override parse() {}
    }
    web.route(null, '/one', (_, res) => res.end('one'))
    web.route(null, '/one/', (_, res) => res.end('another'))
    await crawl(Tracked, {
      settings: { ...filterAlone(), CANONICALIZER: 'normalize-url', CONCURRENT_REQUESTS: 1 },
      logger: silent,
    })
    expect(web.hits.map(({ url }) => url.slice(base.length))).toEqual([
      '/one?b=2&utm_source=mail&a=1',
      '/one/?a=1&b=2',
    ])
  })

  test('the end of the crawl deletes what was seen, unless SCHEDULER_PERSIST', async () => {
    await crawlWeb({ seed: 4, pagesPerHost: 10 }, {}, async () => {
      expect(await redis.command('EXISTS', 'pages:dupefilter')).toBe(0)
    })
    await crawlWeb({ seed: 4, pagesPerHost: 10 }, { SCHEDULER_PERSIST: true }, async () => {
      expect(await redis.command('EXISTS', 'pages:dupefilter')).toBe(1)
    })
    await crawlWeb({ seed: 4, pagesPerHost: 10 }, { SCHEDULER_FLUSH_ON_START: true }, (web) => eachOnce(web))
  })
})

describe('what cannot work is refused before anything is fetched', () => {
  test.each([
    [{ REDIS_URL: '', DUPEFILTER_CLASS: 'redis-bloom' }, /no Redis is named/],
    [{ DUPEFILTER_CLASS: 'splittable-bloom', BLOOMFILTER_BIT: 30 }, /as many leaves as it needs/],
    [{ DUPEFILTER_CLASS: 'splittable-bloom', BLOOMFILTER_ON_FULL: 'stop' }, /never full/],
    [{ DUPEFILTER_CLASS: 'redis-set', JOBDIR: 'job' }, /JOBDIR is set/],
    [{ DUPEFILTER_DIGEST: 'md5', FINGERPRINTER: () => 'x' }, /tells requests apart by their URLs alone/],
    [
      { CANONICALIZER: 'normalize-url', NORMALIZE_URL_OPTIONS: { stripHsh: true } },
      /NORMALIZE_URL_OPTIONS has "stripHsh".*Did you mean stripHash/,
    ],
    [
      { DUPEFILTER_CLASS: 'redis-bloom', BLOOMFILTER_COMPAT: 'liuxingming-demo', DUPEFILTER_DIGEST: 'url' },
      /takes the number of the block from the first hex digits/,
    ],
    [{ DUPEFILTER_DIGEST: 'md5', JOBDIR: 'job' }, /a JOBDIR keeps fingerprints/],
    [{ REDIS_URL: 'http://x' }, /expected redis:\/\/host:port\/db/],
    [
      { DUPEFILTER_CLASS: 'redis-bloom', BLOOMFILTER_COMPAT: 'germey', BLOOMFILTER_ON_FULL: 'grow' },
      /cannot grow/,
    ],
  ] as [SettingsInput, RegExp][])('%j', async (settings, message) => {
    class Nothing extends Spider {
      override name = 'nothing'
    }
    const given = {
      ...settings,
      REDIS_URL: settings.REDIS_URL === '' ? null : (settings.REDIS_URL ?? redis.url),
    }
    await expect(crawl(Nothing, { settings: given, logger: silent })).rejects.toThrow(message)
  })

  test('a Bloom filter of other parameters', async () => {
    const bloom: SettingsInput = { DUPEFILTER_CLASS: 'redis-bloom', SCHEDULER_PERSIST: true }
    await crawlWeb({ pagesPerHost: 3 }, { ...bloom, BLOOMFILTER_CAPACITY: 1000 }, () => {})
    await expect(
      crawlWeb({ pagesPerHost: 3 }, { ...bloom, BLOOMFILTER_CAPACITY: 2000 }, () => {}),
    ).rejects.toThrow(/begun with bits/)
  })
})
