/**
 * The master of a crawl's Redis, or of its filter alone, is killed, stopped, or cut off with a worker on its side, in mid-crawl.
 *
 * Ports are cut in network namespaces of this file's own, five at a time, in which it runs itself once more: needs root, `unshare`, `ip` and
 * `iptables`. A selection of topologies, queue modes, filters and faults in which each pair of them is there, `CUT_OFF_ROUNDS` times (20, seventy minutes).
 */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { TempDir } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CutMode, cutsOff, type Fault, type Topology } from './cutting-off.ts'
import { cutsOffSeeds } from './cutting-off-seeds.ts'
import { isInside } from './namespace.ts'
import { prepareNamespace } from './prepare-namespace.ts'

const SELECTION: readonly (readonly [Topology, CutMode, string, Fault])[] = [
  ['sentinels', 'turns', 'redis-set', 'killed'],
  ['cluster', 'job', 'redis-bloom', 'killed'],
  ['sentinels', 'job', 'redis-key', 'killed'],
  ['cluster', 'job', 'redis-set', 'stopped'],
  ['sentinels', 'turns', 'redis-bloom', 'stopped'],
  ['cluster', 'turns', 'redis-key', 'stopped'],
  ['sentinels', 'job', 'redis-set', 'cut off'],
  ['cluster', 'turns', 'redis-bloom', 'cut off'],
  ['sentinels', 'turns', 'redis-key', 'cut off'],
  ['sentinels', 'turns', 'redis-set', 'cut off for long'],
  ['cluster', 'job', 'redis-bloom', 'cut off for long'],
  ['cluster', 'turns', 'redis-set', 'the filter alone'],
  ['sentinels', 'job', 'redis-bloom', 'the filter alone'],
  ['cluster', 'job', 'redis-key', 'the filter alone'],
  // Each master has shards, so that the filter's never goes alone.
  ['cluster', 'shards', 'redis-set', 'killed'],
  ['cluster', 'shards', 'redis-bloom', 'stopped'],
  ['cluster', 'shards', 'redis-key', 'cut off'],
  ['cluster', 'shards', 'redis-set', 'cut off for long'],
]
const ROUNDS = Number(process.env.CUT_OFF_ROUNDS ?? 20)
const MS_MAX = 3 * 60 * 60_000

const canHaveNamespaces =
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['-n', 'sh', '-c', 'ip link set lo up && iptables -L']).status === 0

/** Each in a namespace of its own: most of a round is waiting. */
const PARTS = 5
const PART = Number(process.env.CUT_OFF_PART)

test.skipIf(isInside)('all of it, in network namespaces', { timeout: MS_MAX }, async () => {
  expect(canHaveNamespaces, 'root, unshare, ip and iptables').toBe(true)
  const vitest = `node_modules/.bin/vitest run --reporter=verbose --config vitest.soak.config.ts tests/fail-over/cut-off.soak.test.ts`
  const parts = Array.from({ length: PARTS }, async (_, part) => {
    const inside = spawn('unshare', ['-n', 'sh', '-c', `ip link set lo up && exec ${vitest}`], {
      env: { ...process.env, IN_NAMESPACE: '1', CUT_OFF_PART: String(part) },
      // Each round is told of as it ends.
      stdio: 'inherit',
    })
    return (await once(inside, 'exit'))[0] as number | null
  })
  expect(await Promise.all(parts)).toEqual(Array(PARTS).fill(0))
})

let prepared: TempDir | undefined
beforeAll(async () => {
  if (isInside) prepared = await prepareNamespace()
})
afterAll(() => prepared?.remove())

describe.runIf(isInside).each(ofPart(SELECTION))('%s, %s, %s, %s', (topology, mode, filter, fault) => {
  test.each(Array.from({ length: ROUNDS }, (_, n) => n + 1))('seed %i: every page is crawled', (seed) =>
    cutsOff({ topology, mode, filter, fault, seed }),
  )
})

describe.runIf(isInside).each<Topology>(ofPart(['sentinels', 'cluster'], SELECTION.length))(
  '%s, seeds are elsewhere, cut off',
  (topology) => {
    test.each(Array.from({ length: ROUNDS }, (_, n) => n + 1))(
      'round %i: the page of every seed is crawled',
      (seed) => cutsOffSeeds({ topology, seed }),
    )
  },
)

/** @param before how many others have been given to the parts in turn */
function ofPart<T>(all: readonly T[], before = 0): T[] {
  return all.filter((_, n) => (before + n) % PARTS === PART)
}
