/** Crawls over several shards in virtual time, see testing/simulation/shards-simulation.ts. */

import { inFull } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { type ShardsTrouble, simulateShards } from '../../testing/simulation/shards-simulation.ts'
import type { ShardPart } from '../../testing/simulation/simulated-tending.ts'

const TROUBLE: ShardsTrouble = { kills: 2, drops: 6, setBacks: 6 }
/** Servers go back so often that some do as the crawl ends. */
const FALLING: ShardsTrouble = { kills: 0, drops: 3, setBacks: 14 }
/** Masters are cut off from their replicas for as long as cluster-node-timeout is by default, and answer all the while. */
const CUT_OFF: ShardsTrouble = { ...TROUBLE, lagMsMax: 15_000 }
/** A shard comes back without its data. */
const EMPTIED: ShardsTrouble = { kills: 0, drops: 0, setBacks: 0, empties: 1 }
const SEEDS = inFull([1, 2, 3, 4], [2])

test('nothing goes wrong: no link is lost, none is done twice, and the crawl ends', () => {
  expect(simulateShards({ seed: 1 })).toMatchObject({ wentBack: 0 })
})

test.each(SEEDS)('seed %i: the same where shards go back, each by itself, and workers are killed', (seed) => {
  expect(simulateShards({ seed, trouble: TROUBLE }).wentBack).toBeGreaterThan(0)
})

test.each(inFull([1, 2, 3], [2]))(
  'seed %i: the same where a replica is silent for long before it takes its master’s place',
  (seed) => {
    expect(() => simulateShards({ seed, trouble: CUT_OFF, without: 'retention by replicas' })).toThrow(
      'is lost',
    )
    expect(simulateShards({ seed, trouble: CUT_OFF }).wentBack).toBeGreaterThan(0)
  },
)

test('a seed replays exactly', () => {
  const again = () => simulateShards({ seed: 9, pages: 30, trouble: TROUBLE })
  expect(again()).toEqual(again())
})

/** What the model finds where a part of the protocol is left out. Which seeds find it changes with when workers send their messages: look for another one then. */
const NEEDED: readonly [
  without: ShardPart,
  seed: number,
  finds: RegExp,
  given: { pages: number; trouble: ShardsTrouble },
][] = [
  ['retention', 3, /is lost/, { pages: 80, trouble: TROUBLE }],
  ['epochs', 3, /is lost/, { pages: 80, trouble: TROUBLE }],
  ['ids', 29, /is committed twice/, { pages: 80, trouble: TROUBLE }],
  ['looks', 3, /the crawl does not end/, { pages: 40, trouble: TROUBLE }],
  ['pairs', 1, /ends early/, { pages: 80, trouble: TROUBLE }],
  ['second round', 7, /ends early/, { pages: 20, trouble: FALLING }],
  ['replicas', 7, /ends early/, { pages: 20, trouble: FALLING }],
  ['runs', 171, /ends early/, { pages: 40, trouble: EMPTIED }],
]

test.each(NEEDED)('without %s seed %i goes wrong, and goes well with it', (without, seed, finds, given) => {
  expect(() => simulateShards({ seed, ...given, without })).toThrow(finds)
  // A shard that has lost what was left in it cannot be finished.
  expect(simulateShards({ seed, ...given }).isLost).toBe(given.trouble === EMPTIED)
})
