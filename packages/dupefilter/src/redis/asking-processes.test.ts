import { IN_FULL } from '@webloom/testkit'
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

/** Each process asks about a thousand at once. */
const PAGES = IN_FULL ? 3000 : 1000
test.each([
  ['redis-set', IN_FULL ? 10_000 : 5000],
  ['redis-bloom', IN_FULL ? 10_000 : 2000],
  ['redis-key', PAGES],
  ['counting-bloom', PAGES],
  ['redis-bloom by host', PAGES],
  // Its leaves are split meanwhile.
  ['splittable-bloom', PAGES],
])(
  '%s: of two processes that ask about the same %i requests, exactly one is told that each is new',
  async (kind, pages) => {
    const told = await processes.told({ key: bench.nextKey(), kind, pages })
    expect(told.filter((times) => times !== 1)).toHaveLength(0)
  },
)
