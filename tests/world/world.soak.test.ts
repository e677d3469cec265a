/**
 * Worlds for an hour, or for WORLD_SOAK_MINUTES: seeds that have found something, then new seeds of all families in turn.
 */

import { expect, test } from 'vitest'
import { FAMILIES } from './world-plan.ts'
import { runWorlds } from './world-round.ts'

const MINUTES = Number(process.env.WORLD_SOAK_MINUTES ?? 60)
const AT_ONCE = 3
/** One that fails is rare, and may not come again: all that its workers said is told. */
process.env.WORLD_LOG ??= 'debug'

/** Beside those of world.test.ts. */
const SECOND_SEEDS = [
  'calm-2',
  'foreign-2',
  'full-1',
  'full-6',
  'kill-1',
  'kill-4',
  'pause-4',
  'pause-963070',
  'replies-1',
  'replies-2',
  'set-back-2',
  'set-back-4',
  'restart-3',
  'shared-2',
]

function* seedsFor(minutes: number): Generator<string> {
  yield* SECOND_SEEDS
  const ends = performance.now() + minutes * 60_000
  for (let number = Math.floor(Date.now() / 1000) % 1_000_000; performance.now() < ends; number++)
    for (const family of FAMILIES) if (performance.now() < ends) yield `${family}-${number}`
}

test(`${MINUTES} minutes of worlds: no page is lost, none is fetched more often than guarantee 1 allows`, {
  timeout: (MINUTES + 5) * 60_000,
}, async () => {
  const wrong: string[] = []
  let worlds = 0
  await runWorlds(seedsFor(MINUTES), AT_ONCE, (result) => {
    worlds++
    if (result.wrong.length === 0) return
    const logs = result.logs.split('\n').filter((line) => !line.includes('"msg":"crawled"'))
    const told = [...logs, `${result.seed}:`, ...result.wrong, ...result.hits, ...result.struck].join('\n  ')
    console.log(told)
    wrong.push(told)
  })
  console.log(`${worlds} worlds, ${wrong.length} went wrong`)
  expect(wrong.join('\n')).toBe('')
})
