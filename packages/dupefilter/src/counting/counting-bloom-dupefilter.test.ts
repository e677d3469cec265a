import { fingerprint } from '@webloom/core'
import { dupeFilterContract, withoutSharedStore } from '@webloom/core/contract'
import { casesOf, startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { goesOnWithEarlierSize } from '../../testing/earlier-size.ts'
import { FilterBench, RUNNER } from '../../testing/filter-bench.ts'
import { isScript, page, pages } from '../../testing/pages.ts'
import { digestOf } from '../asking/digest.ts'
import { RedisBloomDupeFilter } from '../bloom/redis-bloom-dupefilter.ts'
import { bloomParameters } from '../bloom-sizing/bloom-parameters.ts'
import { errorAt } from '../bloom-sizing/bloom-theory.ts'
import type { RedisDupeFilterOptions } from '../redis/redis-dupefilter-options.ts'
import { BloomCounters } from './bloom-counters.ts'
import { CountingBloomDupeFilter, type CountingBloomDupeFilterOptions } from './counting-bloom-dupefilter.ts'
import { countingPlaces } from './counting-places.ts'
import { MemoryCountingBloomDupeFilter } from './memory-counting-bloom-dupefilter.ts'

type Choice = Omit<CountingBloomDupeFilterOptions, keyof RedisDupeFilterOptions>

const bench = new FilterBench()
const maker = (more: Choice) => (options: RedisDupeFilterOptions) =>
  new CountingBloomDupeFilter({ ...options, ...more })
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const SIZES: Record<string, Choice> = {
  '': { capacity: 20_000, errorRate: 1e-8 },
  ' in blocks': { bit: 18, blockNum: 3 },
}
for (const [size, options] of casesOf(SIZES, ' in blocks'))
  dupeFilterContract(RUNNER, { name: `CountingBloomDupeFilter${size}`, ...bench.contract(maker(options)) })
for (const [size, options] of casesOf(SIZES, '')) {
  const name = `MemoryCountingBloomDupeFilter${size}`
  const create = async () => {
    const subject = new MemoryCountingBloomDupeFilter(options)
    await subject.open()
    return { subject, dispose: async () => {} }
  }
  const deviations = withoutSharedStore('it is in the memory of one process')
  dupeFilterContract({ describe, test }, { name, create, deviations })
}

/** Every counter, as Redis has them. */
async function countersOf(key: string): Promise<number[]> {
  const bytes = (await bench.connect().getBuffer(key)) ?? Buffer.alloc(0)
  return [...bytes].flatMap((byte) => [byte >> 4, byte & 15])
}

describe('counters on Redis', () => {
  test('what is seen counts nothing; two hashes at one place count once', async () => {
    const key = bench.nextKey()
    // Twenty hashes in eight places: many meet.
    const filter = await bench.open(maker({ bit: 3, hashNumber: 20 }), { key })
    const [request] = pages(0, 1)
    await filter.requestSeen(request!)
    const once = await countersOf(key)
    expect(Math.max(...once)).toBe(1)
    for (let n = 0; n < 5; n++) await filter.requestsSeen([request!], `asker ${n}`)
    expect(await countersOf(key)).toEqual(once)
    await filter.forget(request!)
    expect(Math.max(...(await countersOf(key)))).toBe(0)
  })

  test('some hundred in and all out again: no counter is left, and the record says so', async () => {
    const key = bench.nextKey()
    const filter = await bench.open(maker({ bit: 14, hashNumber: 6 }), { key })
    await filter.requestsSeen(pages(0, 150), 'page')
    await filter.settled('page')
    expect((await filter.describe()).fillRatio).toBeGreaterThan(0.04)
    for (const request of pages(0, 150)) await filter.forget(request)
    expect(await filter.describe()).toMatchObject({ count: 0, fillRatio: 0 })
    expect(Math.max(...(await countersOf(key)))).toBe(0)
  })

  test('forgetting half leaves the other half seen: no counter was taken from it', async () => {
    const filter = await bench.open(maker({ bit: 16, hashNumber: 4 }))
    await filter.requestsSeen(pages(0, 300), 'page')
    await filter.settled('page')
    for (const request of pages(0, 150)) await filter.forget(request)
    expect(await filter.requestsSeen(pages(150, 150), 'other')).toEqual(new Array(150).fill(true))
    expect(await filter.requestsSeen(pages(0, 150), 'third')).toEqual(new Array(150).fill(false))
  })

  test('the errors measured are those of theory', async () => {
    const filter = await bench.open(maker({ capacity: 1500, errorRate: 0.05 }))
    await filter.requestsSeen(pages(0, 1500), 'page')
    const { hashes, bits, count } = await filter.describe()
    const seen = await Promise.all(pages(1e6, 1500).map((request) => filter.has(request)))
    const theory = errorAt({ hashes, bits }, count)
    const deviation = Math.sqrt((theory * (1 - theory)) / 1500)
    expect(Math.abs(seen.filter(Boolean).length / 1500 - theory)).toBeLessThan(4 * deviation)
  })

  test('a counter at 15 stays, whatever is forgotten: what shares it is still seen', async () => {
    const key = bench.nextKey()
    const filter = await bench.open(maker({ bit: 12, hashNumber: 2 }), { key })
    const redis = bench.connect()
    await filter.requestSeen(page(1))
    const digest = digestOf(fingerprint(page(1)), true)
    const { places } = countingPlaces(digest, bloomParameters({ bit: 12, hashNumber: 2 }, 4).layer)
    for (const place of places) await redis.bitfield(key, 'SET', 'u4', `#${place}`, '15')
    await filter.forget(page(1))
    for (const place of places) expect(await redis.bitfield(key, 'GET', 'u4', `#${place}`)).toEqual([15])
  })

  test('a reply that is lost: the script is sent again, and forgets once', async () => {
    await using proxy = await startTcpProxy({ target: bench.url })
    const [key, small] = [bench.nextKey(), { bit: 5, hashNumber: 2 }]
    const filter = await bench.open(maker(small), { key, redis: bench.connect(proxy.url) })
    const seen = await filter.requestsSeen(pages(0, 30), 'page')
    await filter.settled('page')
    // The server knows the script from now on.
    await filter.forget(page(seen.indexOf(false)))
    const before = await countersOf(key)
    const { layer } = bloomParameters(small, 4)
    const placesOf = (n: number) => countingPlaces(digestOf(fingerprint(page(n)), true), layer).places
    // Others are counted at its places, so that it looks seen when it is gone: the second script would take theirs.
    const shared = seen.findIndex(
      (isSeen, n) => n > seen.indexOf(false) && !isSeen && placesOf(n).every((at) => before[at]! > 1),
    )
    expect(shared).toBeGreaterThan(0)
    const fault = proxy.cutReplyOf(isScript)
    await filter.forget(page(shared))
    expect(fault.count).toBe(1)
    const after = before.map((counter, at) => (placesOf(shared).includes(at) ? counter - 1 : counter))
    expect(await countersOf(key)).toEqual(after)
  })

  test('it has the counters that it has in this process', async () => {
    const key = bench.nextKey()
    const filter = await bench.open(maker({ bit: 10, hashNumber: 3 }), { key })
    const counters = new BloomCounters(bloomParameters({ bit: 10, hashNumber: 3 }, 4).layer)
    for (const request of pages(0, 150)) {
      const digest = digestOf(fingerprint(request), true)
      if (!counters.has(digest)) counters.add(digest)
      await filter.requestSeen(request)
    }
    const { inserted, set } = counters.counted
    expect(await filter.describe()).toMatchObject({ count: inserted, fillRatio: set / 1024 })
  })

  test('what an asker no longer yields is counted once when another has it, and can be forgotten then', async () => {
    const key = bench.nextKey()
    const filter = await bench.open(maker({ bit: 12, hashNumber: 4 }), { key })
    const other = await bench.open(maker({ bit: 12, hashNumber: 4 }), { key })
    await filter.requestsSeen(pages(1, 2), 'page')
    await other.requestsSeen(pages(1, 1), 'page')
    await other.settled('page')
    await other.requestsSeen(pages(9, 1), 'carries the settling')
    await other.settled('carries the settling')
    await other.forget(page(2))
    expect(await other.requestsSeen(pages(2, 1), 'next')).toEqual([false])
    await other.settled('next')
    for (const request of [page(1), page(2), page(9)]) await other.forget(request)
    expect(Math.max(...(await countersOf(key)))).toBe(0)
  })

  test('a full one that stops still forgets, which makes room', async () => {
    const filter = await bench.open(maker({ capacity: 20, errorRate: 0.01, onFull: 'stop' }))
    await filter.requestsSeen(pages(0, 20), 'page')
    await expect(filter.requestSeen(page(1))).rejects.toThrow('dupefilter_full')
    await filter.forget(page(1))
    expect((await filter.describe()).count).toBe(19)
  })
})

test('in the process: counters at 15 stay, and everything else goes', async () => {
  const counters = new BloomCounters(bloomParameters({ bit: 1, hashNumber: 1 }, 4).layer)
  const digest = digestOf('a', false)
  for (let n = 0; n < 20; n++) counters.add(digest)
  for (let n = 0; n < 20; n++) counters.remove(digest)
  expect(counters.has(digest), 'saturated').toBe(true)
  const few = new BloomCounters(bloomParameters({ bit: 1, hashNumber: 1 }, 4).layer)
  for (let n = 0; n < 14; n++) few.add(digest)
  for (let n = 0; n < 14; n++) few.remove(digest)
  expect(few.has(digest)).toBe(false)
  expect(few.counted).toMatchObject({ set: 0, inserted: 0 })
})

test('it cannot grow, and a plain filter’s record is no record of its own', async () => {
  expect(() => new MemoryCountingBloomDupeFilter({ onFull: 'grow' })).toThrow('BLOOMFILTER_ON_FULL is grow')
  const key = bench.nextKey()
  await bench.open(maker({ bit: 12 }), { key })
  await expect(
    bench.open((options) => new RedisBloomDupeFilter({ ...options, bit: 12 }), { key }),
  ).rejects.toThrow('was begun with layout counters, and this worker is set to plain (DUPEFILTER_CLASS')
})

test('unset, its size is 128 MiB, as that of a plain filter', () => {
  expect(bloomParameters({ bit: 28 }, 4).layer).toMatchObject({ bits: 2 ** 28, blocks: 1 })
  expect(bloomParameters({ bit: 31 }, 4).layer).toMatchObject({ bits: 2 ** 30, blocks: 2 })
})

goesOnWithEarlierSize(bench, maker)
