/** One short round of what `npm run soak` does at length. */

import { startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { paceRound } from './cluster-politeness.ts'

test('two workers and their successors: no host is asked before its time, a 429 is obeyed by all, and the rate is kept', {
  timeout: 120_000,
}, async () => {
  await using redis = await startRedis()
  const { shares, lag } = await paceRound({
    redis,
    hosts: 8,
    withBadHosts: true,
    restarts: true,
    workers: 2,
    windowMs: 4000,
  })
  // One start more or less is a quarter of a share here: of all together it is little.
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length
  expect(mean).toBeGreaterThanOrEqual(Math.max(0.5, 0.85 * (1 - lag)))
})
