/** The contract on the layouts of bits that `npm test` leaves out, as they are the same code with other numbers. */

import { dupeFilterContract, withoutForget } from '@webloom/core/contract'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { FilterBench } from '../../testing/filter-bench.ts'
import { RedisBloomDupeFilter } from './redis-bloom-dupefilter.ts'

const bench = new FilterBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const deviations = withoutForget('a bit may stand for other requests too: cleared, it would make those new')
for (const [name, layout] of Object.entries({
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
