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

/** A tenth of those of the soak. */
const OPERATIONS = 250

test.each([1, 2])('seed %i: the model answers as the scripts do, and has the same state', (seed) =>
  compareRun(bench.redis, seed, OPERATIONS),
)

// 1011 names a slot of which what waits has another head than the holder was told.
test.each([11, 1011])(
  'seed %i: the same of a shard, with what it has for others and gets from them',
  (seed) => compareRun(bench.redis, seed, OPERATIONS, { isShard: true }),
)
