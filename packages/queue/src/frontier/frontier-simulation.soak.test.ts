/** 10 ** 7 steps of crawls in virtual time, and all seeds of frontier-simulation.test.ts. */

import './frontier-simulation.test.ts'
import { expect, test } from 'vitest'
import { simulate } from '../../testing/simulation/frontier-simulation.ts'
import { TROUBLE_NAMES, TROUBLES } from '../../testing/simulation/troubles.ts'

const STEPS = 2_500_000
const MS_MAX = 600_000
const FIRST_SEED = 10_000

test.each(TROUBLE_NAMES)('%s: 2.5 million steps', { timeout: MS_MAX }, (name) => {
  let [steps, hot, lanes, reclaimed] = [0, 0, 0, 0]
  for (let seed = FIRST_SEED; steps < STEPS; seed++) {
    const result = simulate({ seed, pages: seed % 5 === 0 ? 600 : 150, trouble: TROUBLES[name] })
    steps += result.steps
    hot += result.seen.hot
    lanes += result.seen.lanes
    reclaimed += result.seen.reclaimed
  }
  // What is not reached is not shown.
  expect(hot).toBeGreaterThan(0)
  expect(lanes).toBeGreaterThan(0)
  if (TROUBLES[name].kills > 0) expect(reclaimed).toBeGreaterThan(0)
})

test.each(TROUBLE_NAMES)('%s: 50 crawls with pages that take a minute', { timeout: MS_MAX }, (name) => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + 50; seed++)
    simulate({ seed, pages: 150, longPart: seed % 2 === 0 ? 0.1 : 0.4, trouble: TROUBLES[name] })
})

// A lane past the last one that scripts look at did not count.
test('a host that twenty workers ask is asked for no more at once than it may be', {
  timeout: MS_MAX,
}, () => {
  const pace = { delayMs: 0, concurrency: 24, randomize: false, jitter: 0 }
  const { seen } = simulate({ seed: 3, pages: 4000, workers: 20, pace })
  expect(seen.lanes).toBeGreaterThan(0)
})
