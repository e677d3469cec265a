import { type Logger, Request, silentLogger } from '@webloom/core'
import { dupeFilterContract, withoutForget } from '@webloom/core/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FilterBench, RUNNER } from '../../testing/filter-bench.ts'
import { errorAt } from '../bloom-sizing/bloom-theory.ts'
import type { RedisDupeFilterOptions } from '../redis/redis-dupefilter-options.ts'
import { MemoryHostBloomDupeFilter } from './memory-host-bloom-dupefilter.ts'
import {
  RedisHostBloomDupeFilter,
  type RedisHostBloomDupeFilterOptions,
} from './redis-host-bloom-dupefilter.ts'

const bench = new FilterBench()
const maker =
  (more: Partial<RedisHostBloomDupeFilterOptions> = {}) =>
  (options: RedisDupeFilterOptions) =>
    new RedisHostBloomDupeFilter({ ...options, ...more })
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const deviations = withoutForget('a bit may stand for other requests too: cleared, it would make those new')
dupeFilterContract(RUNNER, { name: 'RedisHostBloomDupeFilter', deviations, ...bench.contract(maker()) })

const pagesOf = (host: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => new Request(`https://${host}/page/${from + n}`))

const FILTERS = {
  'on Redis': (options: {
    stats?: { inc(key: string, count?: number): void }
    logger?: Logger
    bit?: number
  }) =>
    bench.open(maker(options), {
      stats: options.stats,
      logger: options.logger,
    } as Partial<RedisDupeFilterOptions>),
  'in the process': async (options: {
    stats?: { inc(key: string, count?: number): void }
    logger?: Logger
    bit?: number
  }) => new MemoryHostBloomDupeFilter(options),
}

describe.each(Object.entries(FILTERS))('a filter for each host %s', (_where, open) => {
  test('a host that is full errs as theory says, and no other host does', async () => {
    const counted: [string, number | undefined][] = []
    const said: unknown[] = []
    const filter = await open({
      bit: 12,
      stats: { inc: (key, count) => void counted.push([key, count]) },
      logger: { ...silentLogger, warn: (fields: unknown) => void said.push(fields) },
    })
    await filter.requestsSeen(pagesOf('large.test', 1500), 'page')
    await filter.requestsSeen(pagesOf('small.test', 20), 'page')
    await filter.settled('page')
    const described = await filter.describe()
    const { count, hosts, fullHosts, fullest, pagesLost, bitsPerHost, hashes } = described
    expect({ hosts, fullHosts, bitsPerHost, host: fullest?.host }).toEqual({
      hosts: 2,
      fullHosts: 1,
      bitsPerHost: 4096,
      host: 'large.test',
    })
    expect(Math.abs(1520 - count - pagesLost)).toBeLessThan(5 * Math.sqrt(pagesLost))
    // What is lost sets no bit that is not set: the bits are those of all 1500.
    const theory = errorAt({ bits: bitsPerHost, hashes }, 1500)
    expect(Math.abs(fullest!.errorNow / theory - 1)).toBeLessThan(0.1)
    expect(counted.filter(([key]) => key === 'dupefilter/full_hosts')).toEqual([['dupefilter/full_hosts', 1]])
    expect(said).toHaveLength(1)
    const small = await filter.requestsSeen(pagesOf('small.test', 20, 1000), 'other')
    expect(small).toEqual(new Array(20).fill(false))
    const large = await filter.requestsSeen(pagesOf('large.test', 400, 5000), 'other')
    const error = large.filter(Boolean).length / 400
    expect(Math.abs(error - theory)).toBeLessThan(0.1)
  })

  test('clear empties all of them', async () => {
    const filter = await open({ bit: 12 })
    const pages = Array.from({ length: 1200 }, (_, n) => pagesOf(`host${n}.test`, 1)[0]!)
    await filter.requestsSeen(pages, 'page')
    expect((await filter.describe()).hosts).toBe(1200)
    await filter.clear()
    expect(await filter.describe()).toMatchObject({ hosts: 0, count: 0, fullHosts: 0 })
    expect(await filter.requestsSeen(pages, 'page')).toEqual(new Array(1200).fill(false))
  })
})

test('a host’s filter is a string of 32 KiB under its name, and clear leaves none', async () => {
  const [redis, key] = [bench.connect(), bench.nextKey()]
  const filter = await bench.open(maker(), { key })
  await filter.requestsSeen([...pagesOf('a.test', 300), ...pagesOf('b.test:8080', 1)], 'page')
  await filter.settled('page')
  expect(await redis.strlen(`{${key}}:host:a.test`)).toBeLessThanOrEqual(32 * 1024)
  expect(await redis.exists(`{${key}}:host:b.test`)).toBe(1)
  expect(await filter.memoryBytes()).toBeGreaterThan(40 * 1024)
  expect(await filter.has(pagesOf('a.test', 1)[0]!)).toBe(true)
  expect(await filter.has(pagesOf('b.test:8080', 1)[0]!)).toBe(true)
  expect(await filter.has(pagesOf('b.test', 1)[0]!)).toBe(false)
  await filter.close()
  await filter.clear()
  expect(await redis.keys(`*${key}*`)).toEqual([])
})

const SITES = ['www.a.co.uk', 'a.co.uk:8080', 'b.co.uk', 'me.github.io', 'you.github.io', '127.0.0.1:81'].map(
  (host) => pagesOf(host, 1)[0]!,
)

test.each([
  ['host', ['127.0.0.1', 'a.co.uk', 'b.co.uk', 'me.github.io', 'www.a.co.uk', 'you.github.io']],
  ['domain', ['127.0.0.1', 'a.co.uk', 'b.co.uk', 'me.github.io', 'you.github.io']],
  ['domain-hash', ['0', '1']],
] as const)(
  'by %s: a port makes no other site, and where requests are is told by names',
  async (partitionBy, parts) => {
    const [redis, key] = [bench.connect(), bench.nextKey()]
    const filter = await bench.open(maker({ partitionBy, partitions: 3 }), { key })
    const inProcess = new MemoryHostBloomDupeFilter({ partitionBy, partitions: 3 })
    for (const one of [filter, inProcess]) {
      await one.requestsSeen(SITES, 'page')
      expect((await one.describe()).hosts).toBe(parts.length)
      expect(await one.requestsSeen(SITES, 'other')).toEqual(new Array(6).fill('in doubt'))
    }
    expect((await redis.hkeys(`{${key}}:hosts`)).sort()).toEqual(parts)
  },
)

test('a filter of an earlier release goes on by host and port, and with the size it was begun with', async () => {
  const [redis, key] = [bench.connect(), bench.nextKey()]
  const [size, record] = [{ capacity: 1000, errorRate: 0.01 }, `{${key}}:record`]
  const older = await bench.open(maker(size), { key })
  const { partition, ...noted } = JSON.parse((await redis.hget(record, 'parameters'))!)
  expect(partition).toBe('hostname')
  const begun = { bits: 9586, blocks: 1, hashes: 7 }
  await redis.hset(record, 'parameters', JSON.stringify({ ...noted, ...begun }))
  await redis.hset(record, 'layer:0', JSON.stringify({ ...begun, ...size }))
  await older.close()
  const filter = await bench.open(maker(size), { key })
  await filter.requestsSeen(pagesOf('b.test:8080', 1), 'page')
  expect(await redis.hkeys(`{${key}}:hosts`)).toEqual(['b.test:8080'])
  expect(await filter.describe()).toMatchObject({ bitsPerHost: 9586, hosts: 1 })
  const looking = maker(size)({ redis, key })
  expect(await looking.has(pagesOf('b.test:8080', 1)[0]!)).toBe(true)
  await filter.clear()
  await filter.requestsSeen(pagesOf('b.test:8080', 1), 'page')
  expect(await redis.hkeys(`{${key}}:hosts`)).toEqual(['b.test'])
  await expect(bench.open(maker({ ...size, partitionBy: 'domain' }), { key })).rejects.toThrow(
    'was begun with partition hostname, and this worker is set to domain (BLOOMFILTER_PARTITION_BY',
  )
})

test('another size, or one filter for all hosts, is refused by name', async () => {
  const key = bench.nextKey()
  await bench.open(maker({ bit: 16 }), { key })
  await expect(bench.open(maker(), { key })).rejects.toThrow('was begun with bits 65536')
  expect(() => new MemoryHostBloomDupeFilter({ bit: 30 })).toThrow('2 ** 25 (4 MiB) in one is the most')
  expect(() => new MemoryHostBloomDupeFilter({ onFull: 'stop' })).toThrow('BLOOMFILTER_ON_FULL is stop')
})
