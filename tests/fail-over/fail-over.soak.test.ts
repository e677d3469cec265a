/** The master of a crawl's Redis is killed in mid-crawl: early, in the middle and late. */

import { describe, test } from 'vitest'
import { cluster, failsOver, sentinels } from './failing-over.ts'

describe.each([
  ['Sentinels', () => sentinels()],
  ['a cluster', cluster],
] as const)('%s', (_, start) => {
  describe.each(['turns', 'job'] as const)('QUEUE_MODE=%s', (mode) => {
    test.each([
      [1, 0.05],
      [2, 0.3],
      [3, 0.6],
      [4, 0.9],
    ])('seed %i, the master killed after %d of the pages: every page is crawled', (seed, part) =>
      failsOver(start, { mode, seed, part }),
    )
  })
})
