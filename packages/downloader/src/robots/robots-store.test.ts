import { MemoryStatsCollector, silentLogger } from '@webloom/core'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCrawler } from '../../testing/fetching.ts'
import { RedisRobotsStore } from './redis-robots-store.ts'
import { MemoryRobotsStore, type RobotsEntry } from './robots-store.ts'
import { robotsStoreContract } from './robots-store-contract.ts'

const NOW_MS = 1_000_000
const DAY_MS = 86_400_000
const rules = (file: string, askAgainAtMs = NOW_MS + DAY_MS): RobotsEntry => ({
  outcome: 'rules',
  file,
  askAgainAtMs,
})
const site = (n: number) => `https://site${n}.example`

robotsStoreContract(
  { describe, test },
  {
    name: 'MemoryRobotsStore',
    create: async () => {
      const clock = { nowMs: NOW_MS }
      const now = () => clock.nowMs
      const subject = {
        store: new MemoryRobotsStore({ sitesMax: 10, now }),
        now,
        pass: (ms: number) => {
          clock.nowMs += ms
        },
      }
      return { subject, dispose: async () => {} }
    },
  },
)

describe('MemoryRobotsStore', () => {
  test('gives back the very entry, until its time is over', () => {
    const clock = { nowMs: NOW_MS }
    const store = new MemoryRobotsStore({ sitesMax: 10, now: () => clock.nowMs })
    const entry = rules('User-agent: *')
    store.set(site(1), entry, 1000)
    expect([store.get(site(1)), store.get(site(2))]).toEqual([entry, undefined])
    expect(store.get(site(1))).toBe(entry)
    clock.nowMs += 1000
    expect(store.get(site(1))).toBe(undefined)
  })

  test('forgets the site that was not used for the longest when there are too many', () => {
    const store = new MemoryRobotsStore({ sitesMax: 3 })
    for (const n of [1, 2, 3]) store.set(site(n), rules(''), DAY_MS)
    store.get(site(1))
    store.set(site(4), rules(''), DAY_MS)
    store.set(site(4), rules('again'), DAY_MS)
    expect([1, 2, 3, 4].filter((n) => store.get(site(n)))).toEqual([1, 3, 4])
  })

  test('sites of huge files do not fill the memory', () => {
    const store = new MemoryRobotsStore({ sitesMax: 10_000 })
    const file = 'x'.repeat(512_000)
    for (let n = 0; n < 100; n++) store.set(site(n), rules(file), DAY_MS)
    const kept = Array.from({ length: 100 }, (_, n) => n).filter((n) => store.get(site(n)))
    expect(kept).toEqual(Array.from({ length: 16 }, (_, n) => 84 + n))
  })
})

describe('RedisRobotsStore', () => {
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

  let keys = 0
  /** Workers of one crawl. */
  function workers(count: number, connection: Pick<Redis, 'get' | 'set'> = redis) {
    const [key, clock] = [`test${++keys}:robots:%(origin)s`, { nowMs: NOW_MS }]
    const stats = new MemoryStatsCollector()
    const all = Array.from({ length: count }, () => {
      return new RedisRobotsStore({
        redis: connection,
        key,
        sitesMax: 10,
        stats,
        logger: silentLogger,
        now: () => clock.nowMs,
      })
    })
    return { all, key: (n: number) => key.replace('%(origin)s', site(n)), pattern: key, clock, stats }
  }

  robotsStoreContract(
    { describe, test },
    {
      name: 'RedisRobotsStore',
      create: async () => {
        const { all, clock, pattern } = workers(1)
        /** Redis has a clock of its own: what would be over by ours is taken from it. */
        const pass = async (ms: number) => {
          clock.nowMs += ms
          for (const key of await redis.keys(pattern.replace('%(origin)s', '*'))) {
            const leftMs = (await redis.pttl(key)) - ms
            if (leftMs <= 0) await redis.del(key)
            else await redis.pexpire(key, leftMs)
          }
        }
        return { subject: { store: all[0]!, now: () => clock.nowMs, pass }, dispose: async () => {} }
      },
    },
  )

  test('what one worker learned the others know, for as long', async () => {
    const { all, key, clock } = workers(2)
    const [one, other] = all as [RedisRobotsStore, RedisRobotsStore]
    const entries: RobotsEntry[] = [
      rules('User-agent: *\nDisallow: /\xe9'),
      { outcome: 'absent', askAgainAtMs: NOW_MS + DAY_MS },
      {
        outcome: 'unreachable',
        reason: '503',
        tries: 2,
        sinceMs: NOW_MS,
        isGivenUp: false,
        askAgainAtMs: NOW_MS + 4000,
      },
    ]
    for (const [n, entry] of entries.entries()) {
      await one.set(site(n), entry, 60_000)
      expect(await other.get(site(n))).toEqual(entry)
      expect(await redis.pttl(key(n))).toBeGreaterThan(59_000)
    }
    // Now its own: no question to Redis, and the same object.
    expect(other.get(site(0))).toBe(other.get(site(0)))
    expect(other.get(site(0))).not.toBeInstanceOf(Promise)
    clock.nowMs += 60_000
    await redis.del(key(0))
    expect(await other.get(site(0))).toBe(undefined)
  })

  test('an entry that no longer holds is looked for anew, and serves when there is none', async () => {
    const { all, key, clock } = workers(2)
    const [one, other] = all as [RedisRobotsStore, RedisRobotsStore]
    const [old, fresh] = [rules('old', NOW_MS + 1000), rules('new', NOW_MS + 9000)]
    await one.set(site(1), old, DAY_MS)
    await other.get(site(1))
    clock.nowMs += 1000
    expect(await other.get(site(1))).toEqual(old)
    await one.set(site(1), fresh, DAY_MS)
    expect(await other.get(site(1))).toEqual(fresh)
    clock.nowMs += 8000
    await redis.del(key(1))
    expect(await other.get(site(1))).toEqual(fresh)
  })

  test.each([
    '',
    '{',
    'null',
    '[]',
    '{"outcome":"rules"}',
    '{"outcome":"later","askAgainAtMs":1,"untilMs":2}',
    '"x"',
  ])('what no worker of this release wrote (%j) is not read', async (text) => {
    const { all, key } = workers(1)
    await redis.set(key(1), text)
    expect(await all[0]!.get(site(1))).toBe(undefined)
  })

  test('a large file stays with the worker that has it', async () => {
    const { all, key } = workers(1)
    await all[0]!.set(site(1), rules('x'.repeat(65_537)), DAY_MS)
    await all[0]!.set(site(2), rules('x'.repeat(65_536)), DAY_MS)
    expect(await redis.exists(key(1), key(2))).toBe(1)
    expect(all[0]!.get(site(1))).toMatchObject({ outcome: 'rules' })
  })

  test('a Redis that refuses costs the sharing, and nothing else', async () => {
    const { all, key, stats } = workers(2)
    const [one, other] = all as [RedisRobotsStore, RedisRobotsStore]
    await redis.lpush(key(1), 'no string')
    expect(await other.get(site(1))).toBe(undefined)
    await redis.config('SET', 'maxmemory', '1')
    await one.set(site(2), rules('User-agent: *'), DAY_MS)
    await redis.config('SET', 'maxmemory', '0')
    expect(one.get(site(2))).toEqual(rules('User-agent: *'))
    expect(stats.get('robotstxt/store_error_count')).toBe(2)
  })

  test('its keys are the crawl’s', async () => {
    const crawler = testCrawler({ CRAWL_ID: 'may' }, { name: 'quotes' })
    const store = RedisRobotsStore.fromCrawler({ ...crawler, redis: () => redis })
    await store.set(
      'http://quotes.example:8080',
      { outcome: 'absent', askAgainAtMs: Date.now() + 1000 },
      1000,
    )
    expect(await redis.exists('quotes:may:robots:http://quotes.example:8080')).toBe(1)
  })
})
