/**
 * `npm run soak`: four workers on ten thousand pages, two killed with -9 at random moments, twenty rounds; and three short
 * rounds.
 */

import { startRedis } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { killRound } from './cluster-kills.ts'

const ROUNDS = 20
const PAGES = 10_000
const SHORT_PAGES = 1000

describe.each(['turns', 'job'] as const)('QUEUE_MODE=%s', (mode) => {
  const rounds = Array.from({ length: ROUNDS }, (_, n) => ({ seed: 1000 + n, pages: PAGES }))
  const short = [101, 102, 103].map((seed) => ({ seed, pages: SHORT_PAGES }))
  test.each([...short, ...rounds])(
    'seed $seed, $pages pages',
    { timeout: 600_000 },
    async ({ seed, pages }) => {
      await using queueRedis = await startRedis({ appendonly: 'everysec' })
      await using filterRedis = await startRedis({ appendonly: 'everysec' })
      const round = await killRound({ seed, mode, pages, queueRedis, filterRedis })
      console.log(`${mode} ${JSON.stringify(round)}`)
      expect(round.repeats).toBeLessThanOrEqual(round.repeatsMax)
      for (const takenOverMs of round.takenOverMs) expect(takenOverMs).toBeLessThanOrEqual(10_000)
    },
  )
})
