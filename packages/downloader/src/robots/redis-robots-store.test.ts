import { MemoryStatsCollector, silentLogger } from '@webloom/core'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RedisBench } from '../../../queue/testing/redis-bench.ts'
import { testCrawler } from '../../testing/fetching.ts'
import { DAY_MS, NOW_MS, rules, SHARES, site, unreachable } from '../../testing/robots-entries.ts'
import { RedisRobotsStore } from './redis-robots-store.ts'
import { MemoryRobotsStore, type RobotsEntry } from './robots-store.ts'
import { robotsStoreContract } from './robots-store-contract.ts'

const bench = new RedisBench()
let redis: Redis
beforeAll(async () => {
  await bench.start()
  redis = bench.redis
})
afterAll(() => bench.stop())

let keys = 0
/** Workers of one crawl. */
function workers(count: number, bytesMax = 33_554_432) {
  const [key, clock] = [`test${++keys}:robots:%(part)s`, { nowMs: NOW_MS }]
  const stats = new MemoryStatsCollector()
  const all = Array.from({ length: count }, () => {
    const now = () => clock.nowMs
    const local = new MemoryRobotsStore({ ...SHARES, now })
    return new RedisRobotsStore({ redis, key, bytesMax, local, stats, logger: silentLogger, now })
  })
  const stored = () => redis.keys(key.replace('%(part)s', '*'))
  /** What was stored of the only site. */
  const siteKey = async () => (await stored()).find((one) => one.endsWith(':sites'))!
  return { all, stored, siteKey, clock, stats }
}

robotsStoreContract(
  { describe, test },
  {
    name: 'RedisRobotsStore',
    create: async () => {
      const { all, clock, stored } = workers(1)
      /** Redis has a clock of its own: what would be over by ours is taken from it. */
      const pass = async (ms: number) => {
        clock.nowMs += ms
        for (const key of await stored()) {
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
  const { all, stored, clock } = workers(2)
  const [one, other] = all as [RedisRobotsStore, RedisRobotsStore]
  const entries: RobotsEntry[] = [
    rules('User-agent: *\nDisallow: /\xe9'),
    { outcome: 'absent', askAgainAtMs: NOW_MS + DAY_MS },
    unreachable(NOW_MS + 4000),
  ]
  for (const [n, entry] of entries.entries()) {
    await one.set(site(n), entry, 60_000)
    expect(await other.get(site(n))).toEqual(entry)
  }
  for (const key of await stored()) expect(await redis.pttl(key)).toBeGreaterThan(59_000)
  // Now its own: no question to Redis.
  expect(other.get(site(0))).toEqual(entries[0])
  expect(other.get(site(0))).not.toBeInstanceOf(Promise)
  clock.nowMs += 60_000
  expect(await other.get(site(0))).toBe(undefined)
})

test('a site that allows all takes less than 20 bytes on Redis, and a key for many', async () => {
  const { all, stored, stats } = workers(1, 262_144)
  const askAgainAtMs = NOW_MS + DAY_MS
  const absent: RobotsEntry = { outcome: 'absent', askAgainAtMs }
  await Promise.all(Array.from({ length: 5_000 }, (_, n) => all[0]!.set(site(n), absent, 2 * DAY_MS)))
  const sizes = await Promise.all((await stored()).map((key) => redis.memory('USAGE', key, 'SAMPLES', 0)))
  expect(sizes.length).toBeLessThanOrEqual(64)
  expect(sizes.reduce<number>((sum, size) => sum + Number(size), 0) / 5_000).toBeLessThan(20)
  expect(stats.get('robotstxt/shared_forgotten')).toBe(undefined)
})

test('sites and files stay within their bytes; those told longest ago are forgotten', async () => {
  const { all, stored, stats } = workers(1, 8192)
  const [one] = all as [RedisRobotsStore]
  const file = (n: number) => rules(`Disallow: /${n}${'x'.repeat(1000)}`)
  await Promise.all(Array.from({ length: 2000 }, (_, n) => one.set(site(n), file(n), DAY_MS)))
  const sizes = await Promise.all(
    (await stored()).map(async (key) => [key.split('}:')[1], await redis.memory('USAGE', key, 'SAMPLES', 0)]),
  )
  const bytesOf = (what: string) =>
    sizes.filter(([name]) => String(name).startsWith(what)).reduce((sum, [, size]) => sum + Number(size), 0)
  expect(bytesOf('sites')).toBeLessThan(2 * 4096 + 1000)
  expect(bytesOf('files')).toBeLessThan(2 * 262_144 + 20_000)
  expect(stats.get('robotstxt/shared_forgotten')).toBeGreaterThan(10)
})

test('another worker still knows what was told last, and asks anew what was forgotten', async () => {
  const { all } = workers(2, 8192)
  const [one, other] = all as [RedisRobotsStore, RedisRobotsStore]
  for (let n = 0; n < 1000; n++)
    await one.set(site(n), { outcome: 'absent', askAgainAtMs: NOW_MS + DAY_MS }, DAY_MS)
  expect(await other.get(site(0))).toBe(undefined)
  for (let n = 900; n < 1000; n++)
    expect(await other.get(site(n)), site(n)).toMatchObject({ outcome: 'absent' })
})

test('a file that two sites have is stored once, and again after an hour', async () => {
  const { all, stored, clock } = workers(1)
  const [one] = all as [RedisRobotsStore]
  const file = 'User-agent: *\nDisallow: /private'
  const filesKey = async () => (await stored()).find((key) => key.includes(':files'))!
  await one.set(site(1), rules(file), DAY_MS)
  await redis.del(await filesKey())
  await one.set(site(2), rules(file), DAY_MS)
  expect(await filesKey()).toBe(undefined)
  clock.nowMs += 3_600_000
  await one.set(site(3), rules(file), DAY_MS)
  expect(await redis.hlen(await filesKey())).toBe(2)
})

test('rules whose file is forgotten count as unknown', async () => {
  const { all, stored } = workers(2)
  const [one, other] = all as [RedisRobotsStore, RedisRobotsStore]
  await one.set(site(1), rules('Disallow: /'), DAY_MS)
  for (const key of await stored()) if (key.includes(':files')) await redis.del(key)
  expect(await other.get(site(1))).toBe(undefined)
})

test('an entry that no longer holds is looked for anew, and serves when there is none', async () => {
  const { all, stored, clock } = workers(2)
  const [one, other] = all as [RedisRobotsStore, RedisRobotsStore]
  const [old, fresh] = [rules('old', NOW_MS + 1000), rules('new', NOW_MS + 9000)]
  await one.set(site(1), old, DAY_MS)
  await other.get(site(1))
  clock.nowMs += 1000
  expect(await other.get(site(1))).toEqual(old)
  await one.set(site(1), fresh, DAY_MS)
  expect(await other.get(site(1))).toEqual(fresh)
  clock.nowMs += 8000
  await redis.del(...(await stored()))
  expect(await other.get(site(1))).toEqual(fresh)
})

test.each([
  '',
  'r',
  'r 1 1',
  'a x! 1',
  'a 1 1 1',
  'u 1 1 1',
  'u 1 1 - 1 0 why',
  '{"outcome":"absent"}',
  'z 9999999 1',
])('what no worker of this release wrote (%j) is not read', async (text) => {
  const { all, siteKey } = workers(2)
  const [one, other] = all as [RedisRobotsStore, RedisRobotsStore]
  await one.set(site(1), { outcome: 'absent', askAgainAtMs: NOW_MS + DAY_MS }, DAY_MS)
  const key = await siteKey()
  const field = (await redis.hkeysBuffer(key)).find((name) => name.toString() !== 'bytes')!
  await redis.hset(key, new Map([[field, text]]))
  expect(await other.get(site(1))).toBe(undefined)
})

test('a large file stays with the worker that has it', async () => {
  const { all, stored } = workers(1)
  await all[0]!.set(site(1), rules('x'.repeat(65_537)), DAY_MS)
  expect(await stored()).toEqual([])
  await all[0]!.set(site(2), rules('x'.repeat(65_536)), DAY_MS)
  expect(await stored()).toHaveLength(2)
  expect(all[0]!.get(site(1))).toMatchObject({ outcome: 'rules' })
})

test('a Redis that refuses costs the sharing, and nothing else', async () => {
  const { all, siteKey, stats } = workers(2)
  const [one, other] = all as [RedisRobotsStore, RedisRobotsStore]
  await one.set(site(1), { outcome: 'absent', askAgainAtMs: NOW_MS + DAY_MS }, DAY_MS)
  const key = await siteKey()
  await redis.del(key)
  await redis.lpush(key, 'no hash')
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
  await store.set('http://quotes.example:8080', { outcome: 'absent', askAgainAtMs: Date.now() + 1000 }, 1000)
  expect(await redis.keys('quotes:may:robots:{*}:sites')).toHaveLength(1)
})
