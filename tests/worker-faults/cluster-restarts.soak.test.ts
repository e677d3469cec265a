/** `npm run soak`: all workers killed with -9 and started again, twenty rounds. */

import { startRedis } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { restartRound } from './cluster-restarts.ts'

const ROUNDS = 10
const PAGES = 3000

describe.each(['turns', 'job'] as const)('QUEUE_MODE=%s', (mode) => {
  test.each(Array.from({ length: ROUNDS }, (_, n) => 2000 + n))(
    'all workers killed with -9 and started 4 to 8 s later, seed %i: no more is fetched again than guarantee 1 says',
    { timeout: 300_000 },
    async (seed) => {
      await using queueRedis = await startRedis({ appendonly: 'everysec' })
      await using filterRedis = await startRedis({ appendonly: 'everysec' })
      const round = await restartRound({ seed, mode, pages: PAGES, queueRedis, filterRedis })
      console.log(`${mode} ${JSON.stringify(round)}`)
      expect(round.repeats).toBeLessThanOrEqual(round.repeatsMax)
    },
  )

  test.each([2001, 2002, 2003])(
    'the same of a small, fast crawl, seed %i',
    { timeout: 300_000 },
    async (seed) => {
      await using queueRedis = await startRedis({ appendonly: 'everysec' })
      await using filterRedis = await startRedis({ appendonly: 'everysec' })
      const round = await restartRound({ seed, mode, pages: 1000, queueRedis, filterRedis, isFast: true })
      console.log(`${mode}, fast ${JSON.stringify(round)}`)
      expect(round.repeats).toBeLessThanOrEqual(round.repeatsMax)
    },
  )
})
