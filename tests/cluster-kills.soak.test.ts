/** `npm run soak`: four workers on ten thousand pages, two killed with -9 at random moments, twenty rounds. */

import { startRedis } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { killRound } from './cluster-kills.ts'

const ROUNDS = 20
const PAGES = 10_000

describe.each(['turns', 'job'] as const)('QUEUE_MODE=%s', (mode) => {
  test.each(Array.from({ length: ROUNDS }, (_, n) => 1000 + n))(
    'seed %i',
    { timeout: 600_000 },
    async (seed) => {
      await using queueRedis = await startRedis({ appendonly: 'everysec' })
      await using filterRedis = await startRedis({ appendonly: 'everysec' })
      const round = await killRound({ seed, mode, pages: PAGES, queueRedis, filterRedis })
      console.log(`${mode} ${JSON.stringify(round)}`)
      expect(round.repeats).toBeLessThanOrEqual(round.repeatsMax)
      for (const takenOverMs of round.takenOverMs) expect(takenOverMs).toBeLessThanOrEqual(10_000)
    },
  )
})
