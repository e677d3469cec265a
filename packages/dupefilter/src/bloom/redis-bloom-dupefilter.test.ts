import { fingerprint, type Request, silentLogger } from '@webloom/core'
import { dupeFilterContract, withoutForget } from '@webloom/core/contract'
import { startRedis, startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { goesOnWithEarlierSize } from '../../testing/earlier-size.ts'
import { FilterBench, RUNNER } from '../../testing/filter-bench.ts'
import { page, pages } from '../../testing/pages.ts'
import { bloomOffsets } from '../bloom-sizing/bloom-offsets.ts'
import type { RedisDupeFilterOptions } from '../redis/redis-dupefilter-options.ts'
import { RedisBloomDupeFilter, type RedisBloomDupeFilterOptions } from './redis-bloom-dupefilter.ts'

type BloomChoice = Omit<RedisBloomDupeFilterOptions, keyof RedisDupeFilterOptions>

const bench = new FilterBench()
const maker = (more: BloomChoice) => (options: RedisDupeFilterOptions) =>
  new RedisBloomDupeFilter({ ...options, ...more })
beforeAll(() => bench.start())
afterAll(() => bench.stop())

// Other layouts of the same code: redis-bloom-dupefilter.soak.test.ts.
const deviations = withoutForget('a bit may stand for other requests too: cleared, it would make those new')
dupeFilterContract(RUNNER, {
  name: 'RedisBloomDupeFilter that grows',
  deviations,
  ...bench.contract(maker({ capacity: 400, errorRate: 1e-7, onFull: 'grow' })),
})

describe('what is stored', () => {
  test('a worker with other parameters does not start, and is told which differ', async () => {
    const redis = bench.connect()
    const key = bench.nextKey()
    await bench.open(maker({ bit: 20, hashNumber: 6 }), { redis, key })
    await bench.open(maker({ bit: 20, hashNumber: 6 }), { redis, key })
    await expect(bench.open(maker({ bit: 20, hashNumber: 7 }), { redis, key })).rejects.toThrow(
      `the Bloom filter ${key} was begun with hashes 6, and this worker is set to 7 (BLOOMFILTER_HASH_NUMBER)`,
    )
    await expect(bench.open(maker({ bit: 21 }), { redis, key })).rejects.toThrow('BLOOMFILTER_BIT')
    await expect(bench.open(maker({ bit: 20, compat: 'germey' }), { redis, key })).rejects.toThrow(
      'was begun with mode native, and this worker is set to germey (BLOOMFILTER_COMPAT)',
    )
  })

  test('bits of unknown origin are refused, naming the setting that would take them', async () => {
    const redis = bench.connect()
    const key = bench.nextKey()
    await redis.setbit(key, 7, 1)
    await expect(bench.open(maker({ bit: 20 }), { redis, key })).rejects.toThrow(
      'BLOOMFILTER_COMPAT to germey',
    )
    expect(await redis.exists(`{${key}}:record`)).toBe(0)
  })

  test('a filter that germey’s crawler filled is carried on, bit for bit', async () => {
    const redis = bench.connect()
    const [key, theirs] = [bench.nextKey(), bench.nextKey()]
    const options = { compat: 'germey', bit: 16, hashNumber: 6 } as const
    const python = async (request: Request, target: string) => {
      const value = fingerprint(request, { algorithm: 'scrapy-redis' })
      for (const offset of bloomOffsets(value, options).offsets) await redis.setbit(target, offset, 1)
    }
    for (const request of pages(0, 50)) await python(request, key)
    const filter = await bench.open(maker(options), { redis, key })
    expect(await filter.requestsSeen(pages(0, 50), 'page')).toEqual(new Array(50).fill(true))
    const { inserted, fillRatio } = await filter.describe()
    expect(inserted, 'estimated from the bits').toBeGreaterThan(35)
    expect(fillRatio).toBeGreaterThan(0.003)
    await filter.requestsSeen(pages(50, 50), 'page')
    for (const request of pages(0, 100)) await python(request, theirs)
    expect((await redis.getBuffer(key))!.equals((await redis.getBuffer(theirs))!)).toBe(true)
  })

  test('liuxingming’s blocks are keys with a number behind them, and clear deletes those', async () => {
    const redis = bench.connect()
    const key = bench.nextKey()
    const filter = await bench.open(maker({ compat: 'liuxingming-demo', bit: 20, blockNum: 2 }), {
      redis,
      key,
    })
    await filter.requestsSeen(pages(0, 100), 'page')
    const value = fingerprint(page(1), { algorithm: 'scrapy-2.6' })
    const { block, offsets } = bloomOffsets(value, { compat: 'liuxingming-demo', bit: 20, blockNum: 2 })
    for (const offset of offsets) expect(await redis.getbit(`${key}${block}`, offset)).toBe(1)
    expect(await redis.exists(`${key}0`, `${key}1`)).toBe(2)
    await filter.clear()
    expect(await redis.exists(`${key}0`, `${key}1`)).toBe(0)
  })

  test('the string grows in steps before the first bit is set', async () => {
    await using proxy = await startTcpProxy({ target: bench.url })
    const redis = bench.connect(proxy.url)
    const key = bench.nextKey()
    const filter = await bench.open(maker({ bit: 27 }), { redis, key })
    expect(await redis.strlen(key)).toBe(16 * 2 ** 20)
    expect(proxy.commands.filter(({ name }) => name === 'BITFIELD').length).toBe(16)
    await filter.clear()
    expect(await redis.exists(key), 'a cleared filter takes no room').toBe(0)
    expect(await filter.requestSeen(page(1))).toBe(false)
    expect(await redis.strlen(key)).toBe(16 * 2 ** 20)
    await filter.clear()
  })

  test('a Redis without room for the bits says so at the start, before it is filled with them', async () => {
    await using server = await startRedis({ maxmemory: '16mb' })
    await using proxy = await startTcpProxy({ target: server.url })
    const redis = bench.connect(proxy.url)
    await expect(bench.open(maker({ bit: 30 }), { redis, key: 'a:dupefilter' })).rejects.toThrow(
      'no room for a Bloom filter of 128 MiB at a:dupefilter',
    )
    expect(proxy.commands.some(({ name }) => name === 'BITFIELD')).toBe(false)
    expect(await redis.keys('*')).toEqual([])
    // Larger than the machine itself.
    await server.command('CONFIG', 'SET', 'maxmemory', '0')
    await expect(bench.open(maker({ bit: 40 }), { redis, key: 'a:dupefilter' })).rejects.toMatchObject({
      code: 'WL_DUPEFILTER_FULL',
    })
    expect(await redis.keys('*')).toEqual([])
  })

  test('blocks of which some have no bits yet are no loss', async () => {
    const [redis, key] = [bench.connect(), bench.nextKey()]
    for (const options of [
      { bit: 16, blockNum: 64 },
      { compat: 'liuxingming', bit: 16, blockNum: 64 },
    ] as const) {
      const filter = await bench.open(maker(options), { redis, key })
      await filter.requestsSeen(pages(0, 3), 'page')
      const warn = vi.fn()
      const next = await bench.open(maker(options), { redis, key, logger: { ...silentLogger, warn } })
      expect(warn).not.toHaveBeenCalled()
      expect((await next.describe()).inserted).toBe(3)
      await filter.clear()
    }
  })

  test('bits that were deleted or evicted are missed, and the filter begins anew', async () => {
    const redis = bench.connect()
    const key = bench.nextKey()
    const filter = await bench.open(maker({ bit: 20 }), { redis, key })
    await filter.requestsSeen(pages(0, 10), 'page')
    await redis.del(key)
    const logger = { ...silentLogger, warn: vi.fn() }
    const next = await bench.open(maker({ bit: 20 }), { redis, key, logger })
    expect(logger.warn.mock.calls[0]![1]).toContain('maxmemory-policy must be noeviction')
    expect((await next.describe()).inserted).toBe(0)
  })

  test('a Redis that was emptied meanwhile gets the record again', async () => {
    await using server = await startRedis()
    const redis = bench.connect(server.url)
    const filter = await bench.open(maker({ bit: 20 }), { redis, key: 'a:dupefilter' })
    await filter.requestsSeen(pages(0, 10), 'page')
    await redis.flushall()
    expect(await filter.requestsSeen(pages(0, 10), 'other')).toEqual(new Array(10).fill(false))
    await bench.open(maker({ bit: 20 }), { redis, key: 'a:dupefilter' })
  })
})

describe('how full it is', () => {
  test('describe gives capacity, fill, error now and the pages lost so far', async () => {
    const filter = await bench.open(maker({ capacity: 2500, errorRate: 1e-3 }))
    for (let from = 0; from < 2500; from += 500) await filter.requestsSeen(pages(from, 500), 'page')
    const description = await filter.describe()
    expect(description).toMatchObject({
      name: 'redis-bloom',
      capacity: 2500,
      bits: 35_948,
      hashes: 10,
      layers: 1,
    })
    expect(description.inserted).toBeGreaterThan(2_490)
    expect(description.fillRatio).toBeCloseTo(0.5, 1)
    expect(description.errorNow).toBeGreaterThan(0.5e-3)
    expect(description.errorNow).toBeLessThan(1.5e-3)
    expect(description.pagesLost).toBeGreaterThan(0.07)
    expect(description.pagesLost).toBeLessThan(0.8)
  })

  test('it warns once when half of its bits are set, and once at its capacity', async () => {
    const warn = vi.fn()
    const filter = await bench.open(maker({ bit: 14, hashNumber: 6, errorRate: 0.1 }), {
      logger: { ...silentLogger, warn },
    })
    const { capacity } = await filter.describe()
    for (let from = 0; from < 2 * capacity; from += 500) await filter.requestsSeen(pages(from, 500), 'page')
    const messages = (warn.mock.calls as unknown[][]).map(([, message]) => String(message))
    expect(messages).toHaveLength(2)
    expect(messages[0]).toContain('half')
    expect(messages[1]).toContain('has reached its capacity: an error of 0.1')
    expect((await filter.describe()).warnings).toEqual(messages)
  })

  test('describe warns from half of the bits on, and from the capacity on', async () => {
    const filter = await bench.open(maker({ bit: 14, hashNumber: 6, errorRate: 0.1 }))
    const { capacity } = await filter.describe()
    const warnings: string[][] = []
    for (let from = 0; from < 1.2 * capacity; from += 100) {
      await filter.requestsSeen(pages(from, 100), 'page')
      const { inserted, fillRatio, warnings: now } = await filter.describe()
      expect(now.some((text) => text.includes('half'))).toBe(fillRatio >= 0.5)
      expect(now.some((text) => text.includes('capacity'))).toBe(inserted >= capacity)
      warnings.push([...now])
    }
    expect(new Set(warnings.map(({ length }) => length))).toEqual(new Set([0, 1, 2]))
  })

  test('pages lost are counted far beyond the capacity, too', async () => {
    const filter = await bench.open(maker({ bit: 12, hashNumber: 6 }))
    let seen = 0
    for (let from = 0; from < 3000; from += 100) {
      seen += (await filter.requestsSeen(pages(from, 100), `page ${from}`)).filter(Boolean).length
    }
    const { pagesLost, inserted } = await filter.describe()
    expect(inserted).toBe(3000 - seen)
    expect(seen).toBeGreaterThan(1000)
    expect(pagesLost / seen).toBeGreaterThan(0.7)
    expect(pagesLost / seen).toBeLessThan(1.3)
  })

  test('with stop, a full filter ends the crawl before it loses more than was asked for', async () => {
    const filter = await bench.open(maker({ capacity: 1000, errorRate: 1e-3, onFull: 'stop' }))
    await filter.requestsSeen(pages(0, 500), 'page')
    await filter.requestsSeen(pages(500, 510), 'page')
    await expect(filter.requestsSeen(pages(2000, 1), 'page')).rejects.toMatchObject({
      code: 'WL_CLOSE_SPIDER',
      reason: 'dupefilter_full',
    })
    await filter.close()
  })

  test('with grow, a full filter gets a larger layer of half the error, which all workers notice', async () => {
    const redis = bench.connect()
    const key = bench.nextKey()
    const grows = maker({ capacity: 250, errorRate: 1e-3, onFull: 'grow' })
    const shared = { redis, key }
    const filter = await bench.open(grows, shared)
    const other = await bench.open(grows, shared)
    const idle = await bench.open(grows, shared)
    for (let from = 0; from < 2500; from += 25) {
      await (from % 50 === 0 ? filter : other).requestsSeen(pages(from, 25), `page ${from}`)
    }
    const { layers, capacity, errorNow, inserted } = await filter.describe()
    expect(layers).toBe(4)
    expect(capacity).toBe(250 + 500 + 1000 + 2000)
    // Each layer takes the batch that filled it, 25 more than its capacity at the most, whoever of the workers asks.
    const inLayers = await redis.hmget(`{${key}}:record`, 'inserted:0', 'inserted:1', 'inserted:2')
    for (const [n, count] of inLayers.entries()) expect(Number(count)).toBeLessThan(250 * 2 ** n + 25)
    expect(errorNow).toBeLessThan(2.5e-3)
    expect(inserted).toBeGreaterThan(2_480)
    const seen = await other.requestsSeen(pages(0, 2500), 'again')
    expect(seen.every(Boolean)).toBe(true)
    expect(await idle.has(page(2_499)), 'in a layer that it has not heard of').toBe(true)
    await filter.clear()
    expect(await redis.keys(`*${key}*`)).toEqual([])
  })

  test('a batch that was cut for fewer hashes than the new layer has is recorded whole', async () => {
    const [redis, key] = [bench.connect(), bench.nextKey()]
    const grows = maker({ capacity: 1000, errorRate: 1e-3, onFull: 'grow' })
    const filter = await bench.open(grows, { redis, key })
    const other = await bench.open(grows, { redis, key })
    await other.requestsSeen(pages(0, 1100), 'fills it')
    await other.requestsSeen(pages(2000, 50), 'has it grow')
    // 190 requests of 10 hashes, of which the new layer has 11: more than Lua can unpack at once.
    const seen = await filter.requestsSeen(pages(5000, 190), 'page')
    expect(seen.filter(Boolean).length).toBeLessThan(5)
  })

  test('many questions at once while it grows: one worker’s answer for each, and nothing is forgotten', async () => {
    const key = bench.nextKey()
    const grows = maker({ capacity: 200, errorRate: 1e-5, onFull: 'grow' })
    const shared = { key }
    const [filter, other] = [await bench.open(grows, shared), await bench.open(grows, shared)]
    const numbers = Array.from({ length: 50 }, (_, n) => 25 * n)
    const told = await Promise.all(
      numbers.flatMap((from) =>
        [filter, other].map((one, n) => one.requestsSeen(pages(from, 25), `${n} ${from}`)),
      ),
    )
    const newTo = (from: number, n: number) => told[2 * from + n]!.map((seen) => !seen)
    let [lost, twice] = [0, 0]
    for (const [n] of numbers.entries()) {
      for (let at = 0; at < 25; at++) {
        const times = Number(newTo(n, 0)[at]) + Number(newTo(n, 1)[at])
        if (times > 1) twice++
        if (times === 0) lost++
      }
    }
    expect(twice).toBe(0)
    expect(lost, 'as an error of 2e-5 may').toBeLessThan(2)
    const again = await other.requestsSeen(pages(0, 1250), 'again')
    expect(again.filter((seen) => !seen)).toEqual([])
  })

  test('a Redis without room for a further layer: a clear error, and what was asked is not lost', async () => {
    await using server = await startRedis({ maxmemory: '16mb' })
    const redis = bench.connect(server.url)
    const grows = maker({ capacity: 2_000_000, onFull: 'grow' })
    const filter = await bench.open(grows, { redis, key: 'a:dupefilter' })
    await filter.requestsSeen(pages(0, 10), 'page')
    await redis.hset('{a:dupefilter}:record', 'inserted:0', 2_000_000)
    await filter.requestsSeen(pages(0, 10), 'page').catch(() => {})
    await expect(filter.requestsSeen(pages(10, 10), 'next')).rejects.toMatchObject({
      code: 'WL_DUPEFILTER_FULL',
    })
    await server.command('CONFIG', 'SET', 'maxmemory', '64mb')
    expect(await filter.requestsSeen(pages(10, 10), 'next')).toEqual(new Array(10).fill(false))
    expect((await filter.describe()).layers).toBe(2)
  })

  test('growing is refused where Python crawlers share the bits', () => {
    expect(() => maker({ compat: 'germey', onFull: 'grow' })({ redis: bench.connect(), key: 'a' })).toThrow(
      'BLOOMFILTER_ON_FULL is grow',
    )
  })
})

goesOnWithEarlierSize(bench, maker)
