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

test.each([
  ['redis-set', 10_000],
  ['redis-bloom', 10_000],
  ['redis-key', 3000],
  ['counting-bloom', 3000],
  ['redis-bloom by host', 3000],
  // Its leaves are split meanwhile.
  ['splittable-bloom', 2000],
])(
  '%s: of two processes that ask about the same %i requests, exactly one is told that each is new',
  async (kind, pages) => {
    const told = await processes.told({ key: bench.nextKey(), kind, pages })
    expect(told.filter((times) => times !== 1)).toHaveLength(0)
  },
)
