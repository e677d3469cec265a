import { expect, test } from 'vitest'
import { bloomParameters } from './bloom-parameters.ts'
import { planFilters } from './bloom-plan.ts'
import {
  bitsFor,
  capacityAt,
  countAtFill,
  errorAt,
  fillAt,
  meanErrorAt,
  optimalSize,
  roundedSize,
} from './bloom-theory.ts'

test('BIT 30 with 6 hashes at 10^8 URLs: 0.6 % at the end, about 108 000 pages lost on the way', () => {
  const plan = planFilters({ urls: 1e8 }).at(-1)!
  expect(plan.bytes).toBe(128 * 2 ** 20)
  expect(plan.errorAtEnd).toBeCloseTo(0.00616, 5)
  expect(plan.pagesLost).toBeGreaterThan(107_000)
  expect(plan.pagesLost).toBeLessThan(109_000)
  expect(plan.warnings.join()).toContain('BLOOMFILTER_CAPACITY=100000000')
})

test('a filter made for its URLs loses about one page in a hundred thousand of the error it ends with', () => {
  const plan = planFilters({ urls: 1e8, errorRate: 1e-6 }).find(({ variant }) =>
    variant.includes('CAPACITY'),
  )!
  expect(plan.hashes).toBe(20)
  expect(plan.bytesPerUrl).toBeCloseTo(3.594, 3)
  expect(plan.errorAtEnd / 1e-6).toBeCloseTo(1, 2)
  expect(plan.pagesLost).toBeLessThan(10)
  expect(plan.warnings).toEqual([])
})

test('10^9 URLs at 1e-6 take seven blocks, and more than 2^40 bits are refused by name', () => {
  const plan = planFilters({ urls: 1e9 }).find(({ variant }) => variant.includes('CAPACITY'))!
  expect(plan.blocks).toBe(7)
  expect(() => planFilters({ urls: 1e11 })).toThrow('BLOOMFILTER_CAPACITY=100000000000 needs')
})

test('it warns when there are no more bits than are set', () => {
  const plan = planFilters({ urls: 1500, bit: 10 }).at(-1)!
  expect(plan.errorAtEnd).toBeGreaterThan(0.99)
  expect(plan.warnings[0]).toContain('most pages lost')
})

test('each filter is there by its name, in the order of how sure it is', () => {
  const plans = planFilters({ urls: 1e8 })
  const names = ['memory', 'redis-set', 'redis-set', 'redis-key', 'redis-bloom', 'memory-bloom']
  expect(plans.map(({ filter }) => filter)).toEqual([
    ...names,
    'counting-bloom',
    'splittable-bloom',
    'redis-bloom',
    'redis-bloom',
  ])
  const named = (name: string) => plans.find(({ filter }) => filter === name)!
  expect(named('counting-bloom').bytes).toBe(named('redis-bloom').bytes * 4)
  expect(named('splittable-bloom')).toMatchObject({ errorAtEnd: 1e-6, pagesLost: 100 })
  expect(named('memory').warnings).toEqual(['a JavaScript set ends at 16777216; use memory-bloom'])
})

test('filters by host are planned by how many hosts there are', () => {
  const hosts = (options: { hosts?: number; bit?: number }) =>
    planFilters({ urls: 1e6, ...options }).find(({ variant }) => variant.includes('PARTITION_BY=host'))!
  expect(hosts({})).toMatchObject({ blocks: 1000, bytes: 1000 * 32 * 1024, warnings: [] })
  const few = hosts({ hosts: 50 })
  expect(few.bytes).toBe(50 * 32 * 1024)
  expect(few.pagesLost).toBeCloseTo(416, 0)
  expect(few.warnings[0]).toContain('for 20000 use BLOOMFILTER_CAPACITY=20000')
})

// 1e6 at 0.01 ended at 0.01004.
test.each([
  [1_000_000, 0.01],
  [1_000_000, 1e-6],
  [10_000, 0.05],
  [200, 0.01],
  [1000, 0.7],
])('a filter made for %i at %d has no larger error when it holds them', (capacity, errorRate) => {
  const size = optimalSize(capacity, errorRate)
  expect(meanErrorAt(size, capacity)).toBeLessThanOrEqual(errorRate)
  expect(meanErrorAt({ ...size, bits: size.bits - 2 }, capacity)).toBeGreaterThan(errorRate * 0.98)
  expect(capacityAt(size, errorRate)).toBeGreaterThanOrEqual(capacity)
})

test('spread over strings it has so many bits more that the fuller ones may err', () => {
  const { layer, older } = bloomParameters({ capacity: 1000, errorRate: 0.01, blockNum: 16 })
  expect(layer).toMatchObject({ blocks: 16, bits: 618 })
  expect(older?.bits).toBe(Math.ceil(roundedSize(1000, 0.01).bits / 16))
})

test('the formulas agree with each other', () => {
  const size = optimalSize(1_000_000, 1e-4)
  expect(size).toEqual({ bits: 19_172_959, hashes: 13 })
  expect(errorAt(size, capacityAt(size, 1e-4)) / 1e-4).toBeCloseTo(1, 4)
  expect(countAtFill(size, fillAt(size, 123_456))).toBe(123_456)
  const fewer = { bits: bitsFor(1_000_000, 1e-6, 12), hashes: 12 }
  expect(errorAt(fewer, 1_000_000)).toBeCloseTo(1e-6, 10)
  expect(fewer.bits / 1_000_000 / 8).toBeLessThan(4)
})

test.each([
  [{ bit: 41 }, 'BLOOMFILTER_BIT is 41; 40 is the most'],
  [{ bit: 0 }, 'BLOOMFILTER_BIT is 0; expected a whole number from 1 to 40'],
  [{ bit: 30.5 }, 'BLOOMFILTER_BIT is 30.5'],
  [{ hashNumber: 0 }, 'BLOOMFILTER_HASH_NUMBER is 0; expected'],
  [{ capacity: 0 }, 'BLOOMFILTER_CAPACITY is 0; expected'],
  [{ capacity: 10, errorRate: 0 }, 'BLOOMFILTER_ERROR_RATE is 0'],
  [{ capacity: 10, errorRate: 1 }, 'BLOOMFILTER_ERROR_RATE is 1'],
  [{ capacity: 10, bit: 30 }, 'BLOOMFILTER_BIT and BLOOMFILTER_CAPACITY are both given'],
  [{ blockNum: 0 }, 'BLOOMFILTER_BLOCK_NUM is 0'],
  [{ bit: 40, blockNum: 2 }, 'BLOOMFILTER_BIT=40 with BLOOMFILTER_BLOCK_NUM=2 needs'],
  [{ compat: 'germey', bit: 33 }, 'at most 2 ** 32 bits; BLOOMFILTER_BIT is 33'],
  [{ compat: 'germey', blockNum: 2 }, 'BLOOMFILTER_BLOCK_NUM is 2'],
  [{ compat: 'liuxingming', hashNumber: 6 }, 'have 7 hashes; BLOOMFILTER_HASH_NUMBER is 6'],
  [{ compat: 'liuxingming', capacity: 6 }, 'BLOOMFILTER_CAPACITY is for native ones'],
] as const)('%j is refused by the name of its setting', (options, message) => {
  expect(() => bloomParameters(options)).toThrow(message)
})

test('all problems are told at once', () => {
  expect(() => bloomParameters({ bit: 41, hashNumber: 0 })).toThrow(/^2 settings are wrong/)
})

test('from 33 on, a filter has blocks of 2^32 bits', () => {
  expect(bloomParameters({ bit: 32 }).layer).toMatchObject({ bits: 2 ** 32, blocks: 1 })
  expect(bloomParameters({ bit: 33 }).layer).toMatchObject({ bits: 2 ** 32, blocks: 2 })
  expect(bloomParameters({ bit: 40 }).layer).toMatchObject({ bits: 2 ** 32, blocks: 256 })
})
