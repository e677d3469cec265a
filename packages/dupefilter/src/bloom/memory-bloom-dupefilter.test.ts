import { CloseSpider, fingerprint, type Logger, silentLogger } from '@webloom/core'
import { dupeFilterContract, withoutForget, withoutSharedStore } from '@webloom/core/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FilterBench } from '../../testing/filter-bench.ts'
import { page, pages } from '../../testing/pages.ts'
import { digestOf } from '../asking/digest.ts'
import { nativeOffsets } from '../bloom-sizing/bloom-offsets.ts'
import { bloomParameters } from '../bloom-sizing/bloom-parameters.ts'
import { errorAt } from '../bloom-sizing/bloom-theory.ts'
import { BloomBits } from './bloom-bits.ts'
import { MemoryBloomDupeFilter, type MemoryBloomDupeFilterOptions } from './memory-bloom-dupefilter.ts'
import { MemoryHostBloomDupeFilter } from './memory-host-bloom-dupefilter.ts'
import { RedisBloomDupeFilter } from './redis-bloom-dupefilter.ts'

const bench = new FilterBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

async function opened(options: MemoryBloomDupeFilterOptions): Promise<MemoryBloomDupeFilter> {
  const filter = new MemoryBloomDupeFilter(options)
  await filter.open()
  return filter
}

const deviations = [
  ...withoutForget('a bit may stand for other requests too: cleared, it would make those new'),
  ...withoutSharedStore('it is in the memory of one process'),
]
for (const [name, options] of Object.entries({
  'MemoryBloomDupeFilter by bits': { bit: 22 },
  'MemoryBloomDupeFilter by capacity': { capacity: 10_000, errorRate: 1e-7 },
  'MemoryBloomDupeFilter in four blocks': { bit: 20, blockNum: 4 },
  'MemoryBloomDupeFilter that grows': { capacity: 100, errorRate: 1e-7, onFull: 'grow' },
} as const)) {
  const create = async () => ({ subject: await opened(options), dispose: async () => {} })
  dupeFilterContract({ describe, test }, { name, create, deviations })
}
dupeFilterContract(
  { describe, test },
  {
    name: 'MemoryBloomDupeFilter by host',
    deviations,
    create: async () => ({
      subject: new MemoryHostBloomDupeFilter({ bit: 20 }),
      dispose: async () => {},
    }),
  },
)

/** Of requests that were never in it, the share that is taken for seen. Asking records, so as few are asked as keep the error. */
async function errorOf(filter: MemoryBloomDupeFilter, probes: number): Promise<number> {
  const seen = await filter.requestsSeen(pages(1e9, probes), 'probes')
  return seen.filter(Boolean).length / probes
}

test('it has the bits that redis-bloom has on Redis', async () => {
  const [redis, key] = [bench.connect(), bench.nextKey()]
  const { layer } = bloomParameters({ bit: 15, hashNumber: 5 })
  const onRedis = await bench.open((all) => new RedisBloomDupeFilter({ ...all, bit: 15, hashNumber: 5 }), {
    redis,
    key,
  })
  await onRedis.requestsSeen(pages(0, 800), 'page')
  const stored = (await redis.getBuffer(key))!
  const bits = new BloomBits(layer)
  for (const request of pages(0, 800)) bits.add(digestOf(fingerprint(request), true))
  const { inserted, set } = bits.counted
  const described = await onRedis.describe()
  expect(set / layer.bits).toBe(described.fillRatio)
  expect(inserted).toBe(800)
  const wrong: number[] = []
  for (let n = 0; n < 3000; n++) {
    const digest = digestOf(`${n}`, false)
    const isThere = nativeOffsets(digest, layer.bits, layer.hashes).every(
      (bit) => (stored[bit >> 3]! & (128 >> (bit & 7))) !== 0,
    )
    if (bits.has(digest) !== isThere) wrong.push(n)
  }
  expect(wrong).toEqual([])
})

test.each([
  [10_000, 1e-2, 1_000],
  [5_000, 1e-1, 1_000],
])(
  '%i requests at an error of %d: probes find that error, within chance',
  async (capacity, errorRate, probes) => {
    const filter = await opened({ capacity, errorRate })
    await filter.requestsSeen(pages(0, capacity), 'page')
    const { hashes, bits, pagesLost, count } = await filter.describe()
    const theory = errorAt({ hashes, bits }, capacity)
    expect(theory / errorRate).toBeCloseTo(1, 1)
    const measured = await errorOf(filter, probes)
    const deviation = Math.sqrt(theory / probes)
    expect(Math.abs(measured - theory)).toBeLessThan(4 * deviation + 0.1 * theory)
    expect(capacity - count, 'what was lost while it was filled').toBeGreaterThan(pagesLost / 2)
    expect(capacity - count).toBeLessThan(pagesLost * 2)
  },
)

test('with grow, a full filter gets a larger layer of half the error, and forgets nothing', async () => {
  const filter = await opened({ capacity: 1000, errorRate: 1e-3, onFull: 'grow' })
  await filter.requestsSeen(pages(0, 10_000), 'page')
  expect(await filter.describe()).toMatchObject({ layers: 4, capacity: 15_000, warnings: [] })
  expect((await filter.describe()).errorNow).toBeLessThan(2e-3)
  await filter.settled('page')
  expect(await filter.requestsSeen(pages(0, 10_000), 'other')).toEqual(new Array(10_000).fill(true))
  await filter.clear()
  expect(await filter.describe()).toMatchObject({ layers: 1, count: 0, pagesLost: 0 })
})

test('with stop, a full filter ends the crawl; with warn it says so once at each stage', async () => {
  const stops = await opened({ capacity: 50, errorRate: 0.01, onFull: 'stop' })
  await stops.requestsSeen(pages(0, 60), 'page')
  await expect(stops.requestsSeen(pages(0, 1), 'other')).rejects.toThrow(CloseSpider)
  const said: string[] = []
  const logger: Logger = {
    ...silentLogger,
    warn: (_fields: unknown, text?: string) => void said.push(text ?? ''),
  }
  const warns = await opened({ capacity: 50, errorRate: 0.01, logger })
  for (let n = 0; n < 100; n++) await warns.requestSeen(page(n))
  expect(said).toHaveLength(2)
  expect(said[1]).toContain('has reached its capacity')
  expect((await warns.describe()).warnings).toEqual(said)
})

test('a filter larger than the machine’s memory is refused by name', async () => {
  await expect(opened({ bit: 40 })).rejects.toMatchObject({ code: 'WL_DUPEFILTER_FULL' })
})
