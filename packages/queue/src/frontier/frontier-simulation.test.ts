/**
 * Crawls in virtual time: the frontier's machines against the model of Redis, see testing/simulation/frontier-simulation.ts. Further
 * seeds: frontier-simulation.soak.test.ts.
 */

import { inFull } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { type SimulationOptions, simulate } from '../../testing/simulation/frontier-simulation.ts'
import { TROUBLE_NAMES, TROUBLES, type TroubleName } from '../../testing/simulation/troubles.ts'

const SEEDS = inFull([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [1, 8])

test.each(TROUBLE_NAMES)(
  '%s: no page is lost or committed twice, slots are asked politely, and the crawl ends',
  (name) => {
    for (const seed of SEEDS) run(seed, name)
  },
)

test.each(TROUBLE_NAMES)(
  '%s: so it is where little may lie at a worker, and what may not go soon makes room',
  (name) => {
    for (const seed of SEEDS) for (const lyingMax of [1, 4]) run(seed, name, { lyingMax })
  },
)

test.each(TROUBLE_NAMES)(
  '%s: so it is where a page in ten takes a minute, and workers with nothing to do get hosts that wait behind such pages',
  (name) => {
    for (const seed of inFull([9, 21, 30, 40, 46, 49], [9])) run(seed, name, { longPart: 0.1, pages: 400 })
  },
)

test.each(inFull([23, 21, 1], [1]))(
  'seed %i: a hot slot of which all lanes are full is not asked again and again',
  (seed) => {
    const { messages, starts } = simulate({ seed, trouble: TROUBLES['nothing goes wrong'] })
    expect(messages).toBeLessThan(3 * starts)
  },
)

test.each(inFull([47, 8], [8]))(
  'seed %i: a lane of a hot slot stays with its worker while others leave it no room',
  (seed) => {
    const { seen, starts } = simulate({ seed, pages: 400, trouble: TROUBLES['nothing goes wrong'] })
    expect(seen.lanes).toBeGreaterThan(0)
    expect(seen.begun).toBeLessThan(starts / 10)
  },
)

// Once Redis had found no room for a lane it was asked no more until its lock was renewed: four workers took four times as long as one.
const TWO_AT_ONCE: [seed: number, pages: number][] = [
  [10, 400],
  [1, 800],
]

test.each(inFull(TWO_AT_ONCE, TWO_AT_ONCE.slice(0, 1)))(
  'seed %i: hosts that may be asked for two pages at once are no slower with four workers than with one',
  (seed, pages) => {
    const pace = { delayMs: 0, concurrency: 2, randomize: false, jitter: 0 }
    const [alone, four] = [1, 4].map((workers) => simulate({ seed, pages, pace, workers }))
    expect(four!.seen.lanes).toBeGreaterThan(0)
    expect(four!.virtualMs).toBeLessThan(1.5 * alone!.virtualMs)
  },
)

test('a seed replays exactly', () => {
  const trouble = TROUBLES['Redis comes back older']
  expect(simulate({ seed: 11, trouble })).toEqual(simulate({ seed: 11, trouble }))
})

const UNTOLD = 'a bucket was left with the last pages of a slot, and Redis was not told of its delay'
const MIXED =
  'pages that ended as their slot became hot were counted as in flight for ever, and the slot waited for them'
const RESTING = 'a lane of a hot slot that had missed a nudge rested for ever, with a page waiting'

const ROUSED =
  'a lane that slept was woken together with one that its worker had: what that had in flight was fetched again'

const TWICE =
  'a worker that began two lanes of a host at the same moment forgot the first, and lost what it had there'

const SLOW =
  'a slot of DOWNLOAD_SLOTS was asked before its delay was over: the next holder knew only the usual one'

const OVERTAKEN =
  'a nudge overtook the answer that Redis had given before it: its bucket rested for five seconds with pages waiting'

const SAME_STATE =
  'a Redis that came back twice with the same state had slots of a worker that did not know of them, and the crawl did not end'

const BESIDE =
  'a Redis that came back twice with the same state was not found out, as a message went beside the word that its worker knew of the first time'

const AGAIN = 'Redis comes back older, again and again'

const CIRCLE =
  'a worker was to tell Redis of a bucket that it had left, and asked itself about that without end'

/** Seeds that have found something, with what that was. */
const FOUND: readonly [
  seed: number,
  trouble: TroubleName,
  what: string,
  pages?: number,
  longPart?: number,
][] = [
  [79, 'nothing goes wrong', UNTOLD],
  [82, 'Redis comes back older', MIXED],
  [45, 'connections are lost, and clocks jump', RESTING],
  [100, 'workers are killed', ROUSED, 400],
  [11, 'nothing goes wrong', TWICE, 600],
  [49, 'Redis comes back older', SLOW],
  [148, 'nothing goes wrong', OVERTAKEN],
  [38, AGAIN, SAME_STATE, 80],
  [285, AGAIN, BESIDE, 80],
  [46, AGAIN, CIRCLE, 400, 0.1],
]
/** Others that have found the same. */
const FOUND_TOO: typeof FOUND = [
  [21, 'connections are lost, and clocks jump', UNTOLD],
  [86, 'nothing goes wrong', UNTOLD],
  [51, 'workers are killed', UNTOLD],
  [158, 'connections are lost, and clocks jump', MIXED],
  [87, 'connections are lost, and clocks jump', ROUSED, 400],
  [24, 'workers are killed', SLOW],
  [74, 'workers are killed', SLOW],
  [80, 'workers are killed', SLOW],
  [181, 'nothing goes wrong', OVERTAKEN],
  [229, 'nothing goes wrong', OVERTAKEN],
  [204, AGAIN, SAME_STATE, 80],
  [764, AGAIN, SAME_STATE, 80],
  [441, AGAIN, BESIDE, 80],
]

test.each(inFull([...FOUND, ...FOUND_TOO], [...FOUND]))(
  'seed %i, %s: %s',
  (seed, name, _what, pages = 150, longPart = 0) => {
    run(seed, name, { pages, longPart })
  },
)

function run(seed: number, name: TroubleName, more: Partial<SimulationOptions> = {}): void {
  const { seen } = simulate({ seed, trouble: TROUBLES[name], ...more })
  if (name === 'nothing goes wrong')
    expect(seen).toMatchObject({ reclaimed: 0, lost: 0, unheld: 0, wentBack: 0 })
}
