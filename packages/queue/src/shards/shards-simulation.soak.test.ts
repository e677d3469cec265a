/** 10 ** 7 steps of crawls over several shards in virtual time, and all seeds of shards-simulation.test.ts. */

import './shards-simulation.test.ts'
import { expect, test } from 'vitest'
import { simulateShards } from '../../testing/simulation/shards-simulation.ts'

const STEPS = 5_000_000
const MS_MAX = 1_200_000
const FIRST_SEED = 10_000

test.each([2, 5])('%i shards: 5 million steps', { timeout: MS_MAX }, (shards) => {
  let [steps, wentBack, lost] = [0, 0, 0]
  for (let seed = FIRST_SEED; steps < STEPS; seed++) {
    const trouble = {
      kills: seed % 4,
      drops: 8,
      setBacks: 4 + (seed % 8),
      lagMsMax: seed % 3 === 0 ? 15_000 : 2000,
      empties: seed % 7 === 0 ? 1 : 0,
    }
    const result = simulateShards({ seed, shards, pages: seed % 5 === 0 ? 150 : 50, trouble })
    steps += result.steps
    wentBack += result.wentBack
    if (result.isLost) lost++
  }
  expect(wentBack).toBeGreaterThan(0)
  expect(lost).toBeGreaterThan(0)
})
