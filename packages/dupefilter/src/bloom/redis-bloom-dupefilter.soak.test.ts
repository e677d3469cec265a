/**
 * The contract on the layouts of bits that `npm test` leaves out, as they are the same code with other numbers; and errors that
 * memory-bloom-dupefilter.test.ts and compat-error.test.ts find in the same bits.
 */

import { dupeFilterContract, withoutForget } from '@webloom/core/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { measuredError } from '../../testing/bloom-probes.ts'
import { FilterBench } from '../../testing/filter-bench.ts'
import { pages } from '../../testing/pages.ts'
import type { RedisDupeFilterOptions } from '../redis/redis-dupefilter-options.ts'
import './redis-bloom-dupefilter.test.ts'
import { RedisBloomDupeFilter, type RedisBloomDupeFilterOptions } from './redis-bloom-dupefilter.ts'

const bench = new FilterBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const deviations = withoutForget('a bit may stand for other requests too: cleared, it would make those new')
for (const [name, layout] of Object.entries({
  'RedisBloomDupeFilter by capacity': { capacity: 100_000, errorRate: 1e-9 },
  'RedisBloomDupeFilter by bits': { bit: 24, hashNumber: 6 },
  'RedisBloomDupeFilter in four blocks': { bit: 22, blockNum: 4 },
  'RedisBloomDupeFilter germey': { compat: 'germey', bit: 24 },
  'RedisBloomDupeFilter liuxingming': { compat: 'liuxingming', bit: 22, blockNum: 3 },
  'RedisBloomDupeFilter liuxingming-demo': { compat: 'liuxingming-demo', bit: 22 },
} as const)) {
  dupeFilterContract(
    { describe, test },
    {
      name,
      deviations,
      ...bench.contract((options) => new RedisBloomDupeFilter({ ...options, ...layout })),
    },
  )
}

type BloomChoice = Omit<RedisBloomDupeFilterOptions, keyof RedisDupeFilterOptions>
const maker = (more: BloomChoice) => (options: RedisDupeFilterOptions) =>
  new RedisBloomDupeFilter({ ...options, ...more })

test.each(['germey', 'liuxingming-demo'] as const)(
  'pagesLost is what was lost, with the hashes of %s too',
  async (compat) => {
    const filter = await bench.open(maker({ compat, bit: 14 }))
    let lost = 0
    for (let from = 0; from < 4000; from += 200) {
      const seen = await filter.requestsSeen(pages(from, 200), `page ${from}`)
      lost += seen.filter(Boolean).length
    }
    const { pagesLost, errorNow, fillRatio, hashes } = await filter.describe()
    expect(Math.abs(pagesLost - lost)).toBeLessThan(4 * Math.sqrt(lost))
    expect(errorNow / fillRatio ** hashes).toBeGreaterThan(1.3)
  },
)

test('the errors measured are those of theory', async () => {
  const redis = bench.connect()
  const key = bench.nextKey()
  const filter = await bench.open(maker({ capacity: 10_000, errorRate: 1e-2 }), { redis, key })
  const measured = await measuredError({ redis, key, filter, count: 10_000, probes: 50_000 })
  expect(measured).toBeLessThan(1.2e-2)
  expect(measured).toBeGreaterThan(0.8e-2)
})
