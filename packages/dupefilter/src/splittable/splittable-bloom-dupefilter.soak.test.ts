/** What errors a splittable filter makes while it grows a hundredfold; and the contract with each choice. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { FilterBench } from '../../testing/filter-bench.ts'
import { pages } from '../../testing/pages.ts'
import './splittable-bloom-dupefilter.test.ts'
import { SplittableBloomDupeFilter } from './splittable-bloom-dupefilter.ts'

const bench = new FilterBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test.each([1e-2, 1e-3])(
  '1 000 expected, 100 000 seen: the error stays below %f, and below twice that during splits',
  async (errorRate) => {
    const filter = await bench.open(
      (options) => new SplittableBloomDupeFilter({ ...options, capacity: 1000, errorRate, leafBit: 13 }),
    )
    let recorded = 0
    for (let count = 0; count < 100_000; count += 1000) {
      const askers = Array.from({ length: 10 }, (_, part) => count + 100 * part)
      const seen = await Promise.all(
        askers.map((from) => filter.requestsSeen(pages(from, 100), `page ${from}`)),
      )
      for (const from of askers) await filter.settled(`page ${from}`)
      recorded += seen.flat().filter((isSeen) => !isSeen).length
      const { errorNow, splitting } = await filter.describe()
      expect(errorNow, `after ${count}`).toBeLessThan(splitting > 0 ? 2 * errorRate : errorRate)
    }
    const { leaves, depth, pagesLost } = await filter.describe()
    let positives = 0
    for (let from = 1_000_000; from < 1_050_000; from += 1000) {
      const found = await Promise.all(pages(from, 1000).map((request) => filter.has(request)))
      positives += found.filter(Boolean).length
    }
    console.log({
      errorRate,
      leaves,
      depth,
      lost: 100_000 - recorded,
      pagesLost,
      measured: positives / 50_000,
    })
    expect(positives / 50_000).toBeLessThan(errorRate)
    expect(100_000 - recorded).toBeLessThan(200_000 * errorRate)
  },
  300_000,
)
