import { MemoryStatsCollector, silentLogger } from '@webloom/core'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { RedisBench } from '../../../queue/testing/redis-bench.ts'
import { cookie, cookieJarStoreContract, PER_DOMAIN_MAX } from './cookie-jar-store-contract.ts'
import type { KeptCookie } from './kept-cookie.ts'
import { MemoryCookieJarStore } from './memory-cookie-jar-store.ts'
import { RedisCookieJarStore } from './redis-cookie-jar-store.ts'

const bench = new RedisBench()
let redis: Redis
let stats: MemoryStatsCollector

beforeAll(async () => {
  await bench.start()
  redis = bench.redis
})
afterAll(() => bench.stop())
beforeEach(async () => {
  stats = new MemoryStatsCollector()
  await redis.flushall()
})

function worker(connection: Redis = redis, perDomainMax = 180): RedisCookieJarStore {
  const bounds = { perDomainMax, cookiesMax: 100, jarsMax: 10, stats: new MemoryStatsCollector() }
  return new RedisCookieJarStore({
    redis: connection,
    key: 'test:cookies:%(jar)s:%(domain)s',
    perDomainMax,
    local: new MemoryCookieJarStore(bounds),
    stats,
    logger: silentLogger,
  })
}

cookieJarStoreContract(
  { describe, test },
  {
    name: 'RedisCookieJarStore',
    deviations: [
      {
        test: 'it is empty until a cookie is kept, and again when the last one has ended',
        reason: 'other workers put cookies in as well: it is asked for each request',
      },
    ],
    create: async () => ({ subject: worker(redis, PER_DOMAIN_MAX), dispose: async () => {} }),
  },
)

const names = (cookies: readonly KeptCookie[]) => cookies.map(({ name, value }) => `${name}=${value}`)

describe('workers that share a jar', () => {
  test('see what any of them was told, by jar and domain', async () => {
    const [one, other] = [worker(), worker()]
    await one.keep('1', [cookie('a', '1'), cookie('b', '2', { domain: 'www.a.com' })])
    expect(names(await other.cookies('1', ['www.a.com', 'a.com'])).sort()).toEqual(['a=1', 'b=2'])
    expect(await other.cookies('1', ['b.com'])).toEqual([])
    expect(await other.cookies('2', ['a.com'])).toEqual([])
    expect((await other.cookies('1', ['a.com']))[0]).toMatchObject(cookie('a', '1'))
  })

  test('do not undo what the others set at the same moment', async () => {
    const workers = Array.from({ length: 8 }, () => worker())
    await Promise.all(workers.map((one, n) => one.keep('1', [cookie(`c${n}`, 'x')])))
    expect(await worker().cookies('1', ['a.com'])).toHaveLength(8)
  })

  test('replace each other’s cookies in their places, and drop one that has ended', async () => {
    const [one, other] = [worker(), worker()]
    await one.keep('1', [cookie('a', '1'), cookie('b', '1'), cookie('b', '2', { path: '/x' })])
    await other.keep('1', [cookie('a', '2'), cookie('b', '', { expiresAtMs: 0 })])
    expect(names(await one.cookies('1', ['a.com']))).toEqual(['a=2', 'b=2'])
  })

  test('keep no more of a domain than they may', async () => {
    const one = worker(redis, 2)
    for (const name of ['a', 'b', 'c']) await one.keep('1', [cookie(name, '1')])
    expect(names(await one.cookies('1', ['a.com']))).toEqual(['b=1', 'c=1'])
    expect(stats.get('cookies/evicted')).toBe(1)
    expect(await redis.hlen('test:cookies:1:a.com')).toBe(2)
  })

  test('a jar that nobody touches goes after a week', async () => {
    await worker().keep('1', [cookie('a', '1')])
    const days = (await redis.pttl('test:cookies:1:a.com')) / 86_400_000
    expect(days).toBeGreaterThan(6.9)
    expect(days).toBeLessThanOrEqual(7)
  })

  test('what another release wrote is passed over', async () => {
    await redis.hset('test:cookies:1:a.com', { x: 'nonsense', y: '{"name":1}' })
    expect(await worker().cookies('1', ['a.com'])).toEqual([])
  })
})

test('while Redis is away a worker sends what it knows itself', async () => {
  const away = new Redis({ port: 1, lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null })
  away.on('error', () => {})
  const alone = worker(away)
  await alone.keep('1', [cookie('a', '1')])
  expect(names(await alone.cookies('1', ['a.com']))).toEqual(['a=1'])
  expect(stats.get('cookies/store_error')).toBe(2)
  away.disconnect()
})
