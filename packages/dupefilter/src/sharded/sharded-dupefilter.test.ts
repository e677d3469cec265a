import { dupeFilterContract, withoutForget, withoutSharedStore } from '@webloom/core/contract'
import { casesOf, type RedisServer, startRedis, startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { FilterBench, RUNNER } from '../../testing/filter-bench.ts'
import { fresh, seen as known, page, pages } from '../../testing/pages.ts'
import { RedisBloomDupeFilter } from '../bloom/redis-bloom-dupefilter.ts'
import { CountingBloomDupeFilter } from '../counting/counting-bloom-dupefilter.ts'
import type { RedisDupeFilter } from '../redis/redis-dupefilter.ts'
import type { RedisDupeFilterOptions } from '../redis/redis-dupefilter-options.ts'
import { RedisSetDupeFilter } from '../redis/redis-set-dupefilter.ts'
import { SplittableBloomDupeFilter } from '../splittable/splittable-bloom-dupefilter.ts'
import { ShardedDupeFilter, shardOf } from './sharded-dupefilter.ts'

type Make = (options: RedisDupeFilterOptions) => RedisDupeFilter

const bench = new FilterBench()
let servers: RedisServer[]
beforeAll(async () => {
  await bench.start()
  servers = await Promise.all([startRedis({ appendonly: 'always' }), startRedis(), startRedis()])
})
afterAll(async () => {
  await bench.stop()
  for (const server of servers) await server.stop()
})

const set: Make = (options) => new RedisSetDupeFilter(options)
const bloom = { capacity: 20_000, errorRate: 1e-9 }
const MAKES: Record<string, Make> = {
  'redis-set': set,
  'redis-bloom': (options) => new RedisBloomDupeFilter({ ...options, ...bloom }),
  'counting-bloom': (options) => new CountingBloomDupeFilter({ ...options, ...bloom }),
  'splittable-bloom': (options) => new SplittableBloomDupeFilter({ ...options, ...bloom, leafBit: 14 }),
}

const FORGETTING = ['redis-set', 'counting-bloom']

type Options = Partial<RedisDupeFilterOptions>

/** Opened, spread over these. */
async function spread(
  make: Make,
  urls: readonly string[],
  options: Options = {},
): Promise<ShardedDupeFilter> {
  const key = options.key ?? bench.nextKey()
  const filter = new ShardedDupeFilter({
    shards: urls.map((server, index) => ({
      server,
      filter: make({
        redis: bench.connect(server),
        pendingStaleMs: 60_000,
        ...options,
        key,
        shard: { index, count: urls.length },
      }),
    })),
    logger: options.logger ?? silent,
  })
  await filter.open()
  return filter
}

const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }
const urls = () => servers.map(({ url }) => url)
const dispose = async (...filters: ShardedDupeFilter[]) => {
  for (const filter of filters) {
    await filter.close()
    await filter.clear()
  }
}

// The part of each kind keeps the contract where that stands; the other kinds in a list of servers: the soak.
for (const [name, make] of casesOf(MAKES, 'redis-set')) {
  const create = async () => {
    const subject = await spread(make, urls())
    return { subject, dispose: () => dispose(subject) }
  }
  const createShared = async (pendingStaleMs: number) => {
    let run = 1
    const shared = { key: bench.nextKey(), redisRunId: () => `run ${run}`, pendingStaleMs }
    const queueComesBack = () => void run++
    const [filter, other] = [await spread(make, urls(), shared), await spread(make, urls(), shared)]
    const stores = { filter, other, pendingStaleMs, queueComesBack }
    return { ...stores, dispose: () => dispose(filter, other) }
  }
  const isShared = name === 'redis-set' || name === 'splittable-bloom'
  // Where the test's two pages are on two servers. By redis-set's fingerprints they are on one.
  const late = {
    test: 'settling twice, or late, changes nothing',
    reason:
      'what is settled travels with the next question to the same server, or alone within a second: an asker that was stale before stays so until then',
  }
  const deviations = [
    ...(name === 'splittable-bloom' ? [late] : []),
    ...(isShared
      ? []
      : withoutSharedStore('its askers are those of redis-set, which runs the tests of shared stores')),
    ...(FORGETTING.includes(name) ? [] : withoutForget('its filters cannot forget')),
  ]
  dupeFilterContract(RUNNER, {
    name: `ShardedDupeFilter of ${name}`,
    create,
    deviations,
    ...(isShared && { createShared }),
  })
}

test('requests fall evenly on the servers, and each is on one of them', async () => {
  const counts = [0, 0, 0]
  for (let n = 0; n < 30_000; n++) counts[shardOf(`fingerprint ${n}`, 3)]!++
  for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500)
  const key = bench.nextKey()
  const filter = await spread(set, urls(), { key })
  await filter.requestsSeen(pages(0, 300), 'page')
  const { count, shards } = await filter.describe()
  expect(count).toBe(300)
  const sizes = await Promise.all(urls().map((url) => bench.connect(url).scard(key)))
  expect(shards.map((shard) => shard.count)).toEqual(sizes)
  expect(Math.min(...sizes)).toBeGreaterThan(60)
  expect(await Promise.all(pages(0, 3).map((request) => filter.has(request)))).toEqual(known(3))
  expect(await filter.has(page(1000))).toBe(false)
  expect(await filter.memoryBytes()).toBeGreaterThan(1000)
  await filter.clear()
  expect(await filter.exists()).toBe(false)
})

test('what a Bloom filter says of itself is said of all servers together', async () => {
  const filter = await spread(MAKES['redis-bloom']!, urls())
  await filter.requestsSeen(pages(0, 90), 'page')
  const described = await filter.describe()
  expect(described).toMatchObject({ name: 'redis-bloom', count: 90, capacity: 60_000, warnings: [] })
  expect(filter.forget).toBeUndefined()
  expect((await spread(set, urls())).forget).toBeDefined()
})

test('what a second run of a page no longer yields can be new again, whichever servers the first had asked', async () => {
  const key = bench.nextKey()
  const [filter, other] = [await spread(set, urls(), { key }), await spread(set, urls(), { key })]
  expect(await filter.requestsSeen(pages(0, 30), 'page')).toEqual(fresh(30))
  expect(await other.requestsSeen(pages(0, 1), 'page')).toEqual([false])
  await other.settled('page')
  expect(await other.requestsSeen(pages(0, 30), 'other')).toEqual([true, ...fresh(29)])
})

describe('a list of servers that is not the one it was begun with', () => {
  test.each([
    [
      'in another order',
      () => [urls()[1]!, urls()[0]!, urls()[2]!],
      /server \d of the 3 .* has part \d of 3/,
    ],
    ['shorter', () => urls().slice(0, 2), /server \d of the 2 .* has part \d of 3/],
    [
      'with one named twice',
      () => [urls()[0]!, urls()[0]!, urls()[2]!],
      /server 2 of the 3 .* has part 1 of 3/,
    ],
  ])('is refused %s', async (_name, list, message) => {
    const key = bench.nextKey()
    await spread(set, urls(), { key })
    await expect(spread(set, list(), { key })).rejects.toThrow(message)
  })

  test('is refused as a server alone, and a filter begun alone is refused in a list; nothing is left on the others', async () => {
    const [key, other] = [bench.nextKey(), bench.nextKey()]
    await spread(set, urls(), { key })
    const alone = (name: string) => set({ redis: bench.connect(urls()[0]!), key: name })
    await expect(alone(key).open()).rejects.toThrow(/the only server .* has part 1 of 3/)
    const begun = alone(other)
    await begun.open()
    await begun.requestSeen(page(1))
    await expect(spread(set, urls(), { key: other })).rejects.toThrow(
      /server 1 of the 3 .* has all of the filter/,
    )
    expect(await bench.connect(urls()[1]!).keys(`*${other}*`)).toEqual([])
  })

  test('may be chosen anew once the filter is cleared; who goes on asking keeps the old one', async () => {
    const key = bench.nextKey()
    const filter = await spread(set, urls(), { key })
    await filter.clear()
    await filter.requestsSeen(pages(0, 30), 'page')
    await expect(spread(set, urls().reverse(), { key })).rejects.toThrow(/has part/)
    await dispose(filter)
    expect(await (await spread(set, urls().reverse(), { key })).requestsSeen(pages(0, 30), 'page')).toEqual(
      fresh(30),
    )
  })

  test('has a server that lost what it had: a warning names it', async () => {
    const key = bench.nextKey()
    await spread(set, urls(), { key })
    await bench.connect(urls()[2]!).flushall()
    const warned: unknown[] = []
    await spread(set, urls(), { key, logger: { ...silent, warn: (what: unknown) => void warned.push(what) } })
    expect(warned).toEqual([{ servers: [urls()[2]] }])
  })
})

describe('with one server away', () => {
  test('a question waits; killed (-9) in the middle of a crawl and started again, nothing is lost and nothing is seen wrongly', async () => {
    const key = bench.nextKey()
    const filter = await spread(set, urls(), { key })
    const told: number[] = []
    const crawl = async () => {
      for (let from = 0; from < 1500; from += 30) {
        const seen = await filter.requestsSeen(pages(from, 30), `page ${from}`)
        for (const [at, isSeen] of seen.entries()) if (!isSeen) told.push(from + at)
        await filter.settled(`page ${from}`)
        if (from === 900) await servers[0]!.kill('SIGKILL')
        // Two pages on, a question waits for it.
        if (from === 900) setTimeout(() => void servers[0]!.restart(), 200)
      }
    }
    await crawl()
    expect(told).toEqual(Array.from({ length: 1500 }, (_, n) => n))
    const other = await spread(set, urls(), { key })
    await vi.waitFor(async () => {
      for (let from = 0; from < 1500; from += 500)
        expect(await other.requestsSeen(pages(from, 500), 'other')).toEqual(known(500))
    })
  })

  test('a question that one server refuses fails as a whole; asked again, the same asker is told all', async () => {
    await using proxy = await startTcpProxy({ target: urls()[0]! })
    const list = [proxy.url, urls()[1]!, urls()[2]!]
    const key = bench.nextKey()
    const connections = list.map((url) => bench.connect(url))
    const filter = new ShardedDupeFilter({
      shards: list.map((server, index) => ({
        server,
        filter: set({ redis: connections[index]!, key, shard: { index, count: 3 }, pendingStaleMs: 60_000 }),
      })),
      logger: silent,
    })
    await filter.open()
    await filter.requestsSeen(pages(500, 30), 'before')
    await bench.connect(urls()[0]!).config('SET', 'maxmemory', '1')
    await expect(filter.requestsSeen(pages(0, 30), 'page')).rejects.toThrow(/reached its maxmemory/)
    // It was partly recorded, and is nobody else's.
    expect((await filter.requestsSeen(pages(0, 0), 'nothing')).length).toBe(0)
    await bench.connect(urls()[0]!).config('SET', 'maxmemory', '0')
    expect(await filter.requestsSeen(pages(0, 30), 'page')).toEqual(fresh(30))
    await filter.settled('page')
    expect(await filter.requestsSeen(pages(0, 30), 'other')).toEqual(known(30))
  })
})
