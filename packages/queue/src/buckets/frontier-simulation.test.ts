/** Crawls in virtual time: the frontier's machines against the model of Redis, see testing/frontier-simulation.ts. */

import { expect, test } from 'vitest'
import { simulate } from '../../testing/frontier-simulation.ts'
import { TROUBLE_NAMES, TROUBLES, type TroubleName } from '../../testing/simulation/troubles.ts'

const SEEDS = Array.from({ length: 15 }, (_, n) => n + 1)

test.each(TROUBLE_NAMES)(
  '%s: no page is lost or committed twice, slots are asked politely, and the crawl ends',
  (name) => {
    for (const seed of SEEDS) simulate({ seed, trouble: TROUBLES[name] })
  },
)

test('a seed replays exactly', () => {
  const trouble = TROUBLES['Redis comes back older']
  expect(simulate({ seed: 11, trouble })).toEqual(simulate({ seed: 11, trouble }))
})

/** Seeds that have found something, with what that was. */
const FOUND: readonly [seed: number, trouble: TroubleName, what: string][] = [
  [
    23,
    'nothing goes wrong',
    'a bucket was left with the last page of a slot, and nobody was told of its delay',
  ],
  [47, 'nothing goes wrong', 'the same'],
  [60, 'nothing goes wrong', 'the same, with pages that lay ready and went back'],
  [3, 'connections are lost, and clocks jump', 'the same'],
  [7, 'connections are lost, and clocks jump', 'the same'],
  [6, 'Redis comes back older', 'the same'],
]

test.each(FOUND)('seed %i, %s: %s', (seed, name) => {
  simulate({ seed, trouble: TROUBLES[name] })
})
