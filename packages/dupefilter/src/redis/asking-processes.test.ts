import { inFull } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AskingProcesses } from '../../testing/asking-processes.ts'
import { FilterBench } from '../../testing/filter-bench.ts'

const bench = new FilterBench()
let processes: AskingProcesses
beforeAll(async () => {
  await bench.start()
  processes = new AskingProcesses(bench.url)
})
afterAll(async () => {
  await processes?.[Symbol.asyncDispose]()
  await bench.stop()
})

const PAGES = inFull<number>(3000, 1000)
test.each([
  ['redis-set', inFull<number>(10_000, 3000)],
  ['redis-bloom', inFull<number>(10_000, 2000)],
  ['redis-key', PAGES],
  ['counting-bloom', PAGES],
  ['redis-bloom by host', PAGES],
  // Its leaves are split meanwhile.
  ['splittable-bloom', PAGES],
])(
  '%s: of two processes that ask about the same %i requests, exactly one is told that each is new',
  async (kind, pages) => {
    const told = await processes.told({ key: bench.nextKey(), kind, pages })
    expect(told.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: pages }, (_, n) => n))
    // Or they have asked one after the other.
    for (const numbers of told) expect(numbers.length).toBeGreaterThan(0)
  },
)
