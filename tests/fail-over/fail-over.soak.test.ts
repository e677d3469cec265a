/** `fail-over.test.ts` in both modes, early, in the middle and late. */

import { describe, test } from 'vitest'
import { failsOver, sentinels } from './failing-over.ts'

describe.each(['turns', 'job'] as const)('QUEUE_MODE=%s', (mode) => {
  test.each([
    [1, 0.05],
    [2, 0.3],
    [3, 0.6],
    [4, 0.9],
  ])('Sentinels, seed %i, killed after %d of the pages: every page is crawled', (seed, part) =>
    failsOver(sentinels, { mode, seed, part }),
  )
})
