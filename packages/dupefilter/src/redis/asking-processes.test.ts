import { afterAll, beforeAll, expect, test } from 'vitest'
import { toldByTwoProcesses } from '../../testing/asking-processes.ts'
import { FilterBench } from '../../testing/filter-bench.ts'

const bench = new FilterBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test.each([
  ['redis-set', 20_000],
  ['redis-bloom', 20_000],
  ['redis-key', 5000],
  ['counting-bloom', 5000],
  ['redis-bloom by host', 5000],
  // Its leaves are split meanwhile.
  ['splittable-bloom', 2000],
])(
  '%s: of two processes that ask about the same %i requests, exactly one is told that each is new',
  async (kind, count) => {
    const told = await toldByTwoProcesses({ url: bench.url, key: bench.nextKey(), kind, pages: count })
    expect(told.filter((times) => times !== 1)).toHaveLength(0)
  },
)
