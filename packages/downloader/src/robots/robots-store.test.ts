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
const unreachable = (askAgainAtMs: number): RobotsEntry => ({
  outcome: 'unreachable',
  reason: '503',
  tries: 2,
  sinceMs: NOW_MS,
  isGivenUp: false,
  askAgainAtMs,
})
const SHARES = { sitesBytes: 10_000, filesBytes: 1_000_000, troublesBytes: 10_000 }
const site = (n: number) => `https://site${n}.example`

robotsStoreContract(
  { describe, test },
  {
    name: 'MemoryRobotsStore',
    create: async () => {
      const clock = { nowMs: NOW_MS }
      const now = () => clock.nowMs
      const subject = {
        store: new MemoryRobotsStore({ ...SHARES, now }),
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
  /** A store, and how often it forgot something for lack of room. */
  function small(shares: Partial<typeof SHARES>) {
    let forgotten = 0
    const onForgotten = () => void forgotten++
    const store = new MemoryRobotsStore({ ...SHARES, ...shares, onForgotten, now: () => NOW_MS })
    return { store, forgotten: () => forgotten }
  }
  const kept = (store: MemoryRobotsStore, count: number) =>
    Array.from({ length: count }, (_, n) => n).filter((n) => store.get(site(n)))

  test('20 000 sites that allow all take 20 bytes each, and none is forgotten', () => {
    const { store, forgotten } = small({ sitesBytes: 20_000 * 35 })
    const absent: RobotsEntry = { outcome: 'absent', askAgainAtMs: NOW_MS + DAY_MS }
    for (let n = 0; n < 20_000; n++) store.set(site(n), absent, DAY_MS)
    expect(kept(store, 20_000)).toHaveLength(20_000)
    expect(store.get(site(20_000))).toBe(undefined)
    expect(forgotten()).toBe(0)
  })

  test('without room, a site takes the place of one that would have been asked again sooner', () => {
    const { store, forgotten } = small({ sitesBytes: 20 * 64 })
    for (let n = 0; n < 70; n++) {
      const askAgainAtMs = NOW_MS + (n + 1) * 1000
      store.set(site(n), { outcome: 'absent', askAgainAtMs }, DAY_MS)
    }
    expect(kept(store, 70)).toEqual(Array.from({ length: 64 }, (_, n) => n + 6))
    expect(forgotten()).toBe(6)
  })

  test('equal files are kept once; without room the file used longest ago is forgotten', () => {
    const { store, forgotten } = small({ filesBytes: 3 * 1256 })
    const file = (name: string) => rules(name.repeat(1000))
    for (let n = 0; n < 100; n++) store.set(site(n), file('a'), DAY_MS)
    store.set(site(100), file('b'), DAY_MS)
    store.set(site(101), file('c'), DAY_MS)
    expect([kept(store, 102).length, forgotten()]).toEqual([102, 0])
    store.get(site(0))
    store.get(site(101))
    store.set(site(102), file('d'), DAY_MS)
    expect([kept(store, 103).includes(100), kept(store, 103).length, forgotten()]).toEqual([false, 102, 1])
  })

  test('without room, the site in trouble that was met longest ago is forgotten', () => {
    const { store, forgotten } = small({ troublesBytes: 2 * 600 })
    const entry = unreachable(NOW_MS + 1000)
    for (let n = 0; n < 3; n++) store.set(site(n), entry, DAY_MS)
    expect([kept(store, 3), forgotten()]).toEqual([[1, 2], 1])
  })

  test('a time between two seconds is rounded up', () => {
    const { store } = small({})
    store.set(site(1), { outcome: 'absent', askAgainAtMs: NOW_MS + 1001 }, DAY_MS)
    expect(store.get(site(1))).toEqual({ outcome: 'absent', askAgainAtMs: NOW_MS + 2000 })
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
      const now = () => clock.nowMs
      const local = new MemoryRobotsStore({ ...SHARES, now })
      return new RedisRobotsStore({ redis: connection, key, local, stats, logger: silentLogger, now })
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
      unreachable(NOW_MS + 4000),
    ]
    for (const [n, entry] of entries.entries()) {
      await one.set(site(n), entry, 60_000)
      expect(await other.get(site(n))).toEqual(entry)
      expect(await redis.pttl(key(n))).toBeGreaterThan(59_000)
    }
    // Now its own: no question to Redis.
    expect(other.get(site(0))).toEqual(entries[0])
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
