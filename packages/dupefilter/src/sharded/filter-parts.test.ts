/** A filter of several parts on one server or cluster: DUPEFILTER_SHARDS. */

import { PROTOCOL_TIMES } from '@webloom/core'
import { dupeFilterContract, withoutForget } from '@webloom/core/contract'
import { casesOf } from '@webloom/testkit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { FilterBench } from '../../testing/filter-bench.ts'
import { fresh, seen as known, page, pages } from '../../testing/pages.ts'
import { RedisBloomDupeFilter } from '../bloom/redis-bloom-dupefilter.ts'
import { RedisHostBloomDupeFilter } from '../bloom/redis-host-bloom-dupefilter.ts'
import { CountingBloomDupeFilter } from '../counting/counting-bloom-dupefilter.ts'
import { partNumber } from '../redis/filter-keys.ts'
import type { RedisDupeFilter } from '../redis/redis-dupefilter.ts'
import type { RedisDupeFilterOptions } from '../redis/redis-dupefilter-options.ts'
import { RedisKeyDupeFilter } from '../redis/redis-key-dupefilter.ts'
import { RedisSetDupeFilter } from '../redis/redis-set-dupefilter.ts'
import { SplittableBloomDupeFilter } from '../splittable/splittable-bloom-dupefilter.ts'
import { ShardedDupeFilter } from './sharded-dupefilter.ts'

type Make = (options: RedisDupeFilterOptions) => RedisDupeFilter

const bench = new FilterBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())
afterEach(async () => {
  for (const filter of opened.splice(0)) await filter.close()
})
const opened: ShardedDupeFilter[] = []

const set: Make = (options) => new RedisSetDupeFilter(options)
const bloom = { capacity: 20_000, errorRate: 1e-9 }
const MAKES: Record<string, Make> = {
  'redis-set': set,
  'redis-key': (options) => new RedisKeyDupeFilter({ ...options, ttlMs: 600_000 }),
  'redis-bloom': (options) => new RedisBloomDupeFilter({ ...options, ...bloom }),
  'redis-bloom by host': (options) => new RedisHostBloomDupeFilter({ ...options, ...bloom }),
  'counting-bloom': (options) => new CountingBloomDupeFilter({ ...options, ...bloom }),
  'splittable-bloom': (options) => new SplittableBloomDupeFilter({ ...options, ...bloom, leafBit: 14 }),
}
const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

async function inParts(
  make: Make,
  count: number,
  options: Partial<RedisDupeFilterOptions> = {},
): Promise<ShardedDupeFilter> {
  const own = { redis: bench.connect(), key: bench.nextKey(), pendingStaleMs: 60_000, ...options }
  const filter = new ShardedDupeFilter({
    shards: Array.from({ length: count }, (_, index) => ({
      server: partNumber(index),
      filter: make({ ...own, shard: { index, count, hasOwnKeys: true } }),
    })),
    logger: silent,
  })
  opened.push(filter)
  await filter.open()
  return filter
}

async function dispose(...filters: ShardedDupeFilter[]): Promise<void> {
  for (const filter of filters) {
    await filter.close()
    await filter.clear()
  }
}

// What they share is tried with all of them by the list of servers; here the one whose parts are chosen otherwise, and the first in
// the soak.
const CHOSEN = { 'redis-set': set, 'redis-bloom by host': MAKES['redis-bloom by host']! }
for (const [name, make] of casesOf(CHOSEN, 'redis-bloom by host')) {
  const create = async () => {
    const subject = await inParts(make, 5)
    return { subject, dispose: () => dispose(subject) }
  }
  const createShared = async (pendingStaleMs: number) => {
    let run = 1
    const shared = { key: bench.nextKey(), redisRunId: () => `run ${run}`, pendingStaleMs }
    const [filter, other] = [await inParts(make, 5, shared), await inParts(make, 5, shared)]
    const stores = { filter, other, pendingStaleMs, queueComesBack: () => void run++ }
    return { ...stores, dispose: () => dispose(filter, other) }
  }
  const deviations = name === 'redis-set' ? [] : withoutForget('its filters cannot forget')
  dupeFilterContract({ describe, test }, { name: `${name} in five parts`, create, createShared, deviations })
}

test.each(Object.entries(MAKES))(
  '%s in four parts is one filter, and clear leaves nothing of it',
  async (_, make) => {
    const key = bench.nextKey()
    const redis = bench.connect()
    const [filter, other] = [await inParts(make, 4, { redis, key }), await inParts(make, 4, { redis, key })]
    expect(await filter.requestsSeen(pages(0, 40), 'page')).toEqual(fresh(40))
    await filter.settled('page')
    await filter.close()
    expect(await other.requestsSeen(pages(0, 40), 'other')).toEqual(known(40))
    expect(await other.describe()).toMatchObject({ count: 40 })
    expect([await other.has(page(1)), await other.has(page(41))]).toEqual([true, false])
    await other.clear()
    // Those of redis-key expire by themselves.
    expect((await redis.keys(`*${key}*`)).filter((name) => !name.includes(':met:'))).toEqual([])
  },
)

test('each part has a hash tag of its own, with all that it needs', async () => {
  const redis = bench.connect()
  const key = bench.nextKey()
  const filter = await inParts(set, 3, { redis, key, crawl: () => 'crawl run' })
  await filter.joined(false)
  await filter.requestsSeen(pages(0, 30), 'page')
  const tags = new Set((await redis.keys(`*${key}*`)).map((name) => /\{(.*)\}/.exec(name)?.[1] ?? name))
  expect([...tags].sort()).toEqual([`${key}#00`, `${key}#01`, `${key}#02`])
  const tagged = `{${key}}:dupefilter`
  await inParts(set, 2, { redis, key: tagged })
  expect(await redis.hget(`{${key}#01}:dupefilter:record`, 'shard')).toBe('1/2')
})

test('a part that has lost its data says which one it is, though pages are only settled there', async () => {
  const [key, redis] = [bench.nextKey(), bench.connect()]
  const filter = await inParts(set, 2, { redis, key, crawl: () => 'crawl run' })
  await filter.requestsSeen(pages(0, 1), 'page')
  const records = [`{${key}#00}:record`, `{${key}#01}:record`]
  const isAsked = await Promise.all(records.map((record) => redis.hexists(record, 'generation')))
  const other = records[isAsked.indexOf(0)]!
  await redis.del(other)
  await filter.settled('page')
  await filter.close()
  expect(await redis.hkeys(other)).toEqual(expect.arrayContaining(['heardAt', 'shard']))
  await (await inParts(set, 2, { redis, key })).close()
})

test('what a second run of a page no longer yields can be new again, whichever parts the first had asked', async () => {
  const key = bench.nextKey()
  const [filter, other] = [await inParts(set, 9, { key }), await inParts(set, 9, { key })]
  expect(await filter.requestsSeen(pages(0, 30), 'page')).toEqual(fresh(30))
  expect(await other.requestsSeen(pages(0, 1), 'page')).toEqual([false])
  await other.settled('page')
  expect(await other.requestsSeen(pages(0, 30), 'other')).toEqual([true, ...fresh(29)])
})

test('what was settled, and lost with an older queue, can be new again, too, when a page without links has run in its place', async () => {
  const key = bench.nextKey()
  let run = 'one'
  const options = { key, redisRunId: () => run }
  const filter = await inParts(set, 9, options)
  await filter.requestsSeen(pages(0, 30), 'page')
  await filter.settled('page')
  await filter.close()
  run = 'two'
  const other = await inParts(set, 9, options)
  expect(await other.requestsSeen([], 'page')).toEqual([])
  await other.settled('page')
  expect(await other.requestsSeen(pages(0, 30), 'other')).toEqual(fresh(30))
})

test('a question is one call for each part that has links of it, and settling costs none', async () => {
  const redis = bench.connect()
  // Nothing is settled alone while this runs.
  const times = { ...PROTOCOL_TIMES, filter: { ...PROTOCOL_TIMES.filter, settleWithinMs: 60_000 } }
  const filter = await inParts(set, 40, { redis, times, pendingStaleMs: 600_000 })
  await filter.requestsSeen(pages(0, 400), 'first')
  const calls = async () =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
  const before = await calls()
  for (let n = 0; n < 20; n++) {
    await filter.requestsSeen(pages(n, 1), `page ${n}`)
    await filter.settled(`page ${n}`)
  }
  expect((await calls()) - before).toBe(20)
})

test('workers that begin it at the same moment are all let in', async () => {
  for (let n = 0; n < 10; n++) {
    const key = bench.nextKey()
    await Promise.all(Array.from({ length: 4 }, () => inParts(MAKES['redis-bloom']!, 3, { key })))
  }
})

describe('another number of parts than the one it was begun with', () => {
  test.each([
    [5, 3],
    [3, 5],
    [3, 1],
    [1, 3],
  ])('is refused: %i, then %i', async (begun, asked) => {
    const key = bench.nextKey()
    const redis = bench.connect()
    const open = async (count: number) => {
      if (count > 1) return inParts(set, count, { redis, key })
      return bench.open(set, { redis, key })
    }
    const filter = await open(begun)
    await filter.requestSeen(page(1))
    const names = await redis.keys(`*${key}*`)
    await expect(open(asked)).rejects.toThrow(
      new RegExp(
        `DUPEFILTER_SHARDS is ${asked}, and the dupefilter ${key} was begun .*-s DUPEFILTER_SHARDS=${begun}`,
      ),
    )
    expect(await redis.keys(`*${key}*`)).toEqual(names)
    await filter.clear()
    await open(asked)
  })
})
