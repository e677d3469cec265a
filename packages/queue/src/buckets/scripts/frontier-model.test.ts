/**
 * The model of the scripts is held to the scripts: without that, what is shown with the model would say nothing. More seeds in
 * frontier-model.soak.test.ts.
 */

import { afterAll, beforeAll, test } from 'vitest'
import { BucketBench } from '../../../testing/bucket-bench.ts'
import { compareRun } from '../../../testing/comparison/compared-run.ts'

const bench = new BucketBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const OPERATIONS = 1000

test('seed 1025: what comes to a slot in the script that closes its last lane is found again', () =>
  compareRun(bench.redis, 1025, 1600))

test.each([1, 2])('seed %i: the model answers as the scripts do, and has the same state', (seed) =>
  compareRun(bench.redis, seed, OPERATIONS),
)

test('seed 11: the same of a shard, with what it has for others and gets from them', () =>
  compareRun(bench.redis, 11, OPERATIONS, { isShard: true }))
