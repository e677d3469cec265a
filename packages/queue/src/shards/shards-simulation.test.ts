/** Crawls over several shards in virtual time, see testing/shards-simulation.ts. */

import { expect, test } from 'vitest'
import { type ShardsTrouble, simulateShards } from '../../testing/shards-simulation.ts'
import type { ShardPart } from '../../testing/simulation/simulated-tending.ts'

const TROUBLE: ShardsTrouble = { kills: 2, drops: 6, setBacks: 6 }
const SEEDS = [1, 2, 3, 4, 5]

test('nothing goes wrong: no link is lost, none is done twice, and the crawl ends', () => {
  expect(simulateShards({ seed: 1 })).toMatchObject({ wentBack: 0 })
})

test.each(SEEDS)('seed %i: the same where shards go back, each by itself, and workers are killed', (seed) => {
  expect(simulateShards({ seed, trouble: TROUBLE }).wentBack).toBeGreaterThan(0)
})

test('a seed replays exactly', () => {
  const again = () => simulateShards({ seed: 9, pages: 30, trouble: TROUBLE })
  expect(again()).toEqual(again())
})

/** What the model finds where a part of the protocol is left out. */
const NEEDED: readonly [without: ShardPart, seed: number, finds: RegExp][] = [
  ['retention', 6, /is lost/],
  ['epochs', 8, /is lost/],
  ['ids', 1, /is committed twice/],
  ['looks', 2, /the crawl does not end/],
  ['pairs', 37, /ends early/],
  ['second round', 24, /ends early/],
  ['wait', 24, /ends early/],
]

test.each(NEEDED)('without %s seed %i goes wrong, and goes well with it', (without, seed, finds) => {
  expect(() => simulateShards({ seed, trouble: TROUBLE, without })).toThrow(finds)
  simulateShards({ seed, trouble: TROUBLE })
})
