/** A short round of what `npm run soak` does many times. */

import { startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { killRound } from './cluster-kills.ts'

test('four workers, two killed with -9 at random moments and replaced: every page is crawled', {
  timeout: 120_000,
}, async () => {
  await using queueRedis = await startRedis({ appendonly: 'everysec' })
  await using filterRedis = await startRedis({ appendonly: 'everysec' })
  const round = await killRound({ seed: 101, mode: 'turns', pages: 600, queueRedis, filterRedis })
  expect(round.repeats).toBeLessThanOrEqual(round.repeatsMax)
  for (const [n, takenOverMs] of round.takenOverMs.entries())
    expect(takenOverMs).toBeLessThanOrEqual(10_000 + round.lagMs[n]!)
})
