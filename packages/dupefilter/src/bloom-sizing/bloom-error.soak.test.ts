/** What errors Bloom filters of some sizes make, by a million probes; and bloom-offsets.test.ts with more. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { measuredError } from '../../testing/bloom-probes.ts'
import './bloom-offsets.test.ts'
import { FilterBench } from '../../testing/filter-bench.ts'
import { RedisBloomDupeFilter } from '../bloom/redis-bloom-dupefilter.ts'

const bench = new FilterBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test.each([
  [1_000, 1e-2],
  [100_000, 1e-2],
  [100_000, 1e-3],
  [500_000, 1e-3],
])(
  '%i requests at %d: a million probes find at most 1.2 times the error asked for',
  async (capacity, errorRate) => {
    const redis = bench.connect()
    const key = bench.nextKey()
    const filter = await bench.open((all) => new RedisBloomDupeFilter({ ...all, capacity, errorRate }), {
      redis,
      key,
    })
    const measured = await measuredError({ redis, key, filter, count: capacity, probes: 1_000_000 })
    expect(measured).toBeLessThan(1.2 * errorRate)
    expect(measured).toBeGreaterThan(errorRate / 1.2)
  },
  600_000,
)
