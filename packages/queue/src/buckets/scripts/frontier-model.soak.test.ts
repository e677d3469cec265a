/** 2 * 10 ** 5 random operations on the scripts and on their model. */

import { afterAll, beforeAll, test } from 'vitest'
import { BucketBench } from '../../../testing/bucket-bench.ts'
import { compareRun } from '../../../testing/comparison/compared-run.ts'

const bench = new BucketBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const OPERATIONS = 2500
const SEEDS = [3, 4, 5, 12, ...Array.from({ length: 40 }, (_, n) => 1000 + n)]

test('seed 1025: what comes to a slot in the script that closes its last lane is found again', () =>
  compareRun(bench.redis, 1025, 1600))

test.each(SEEDS)('seed %i: the model answers as the scripts do, and has the same state', (seed) =>
  compareRun(bench.redis, seed, OPERATIONS),
)

test.each(SEEDS)('seed %i: the same of a shard, with what it has for others and gets from them', (seed) =>
  compareRun(bench.redis, seed, OPERATIONS, { isShard: true }),
)
