/** A crawl that goes on after its end, and what it knows of the one before. In a JOBDIR: cluster-ends.soak.test.ts. */

import { startRedis } from '@webloom/testkit'
import { afterAll, test } from 'vitest'
import { settingsOf } from '../cluster/cluster-crawl.ts'
import { clearedWhole, wokenBySeeds } from './cluster-ends.ts'

const LONG = { timeout: 180_000 }

const redis = await startRedis()
afterAll(() => redis.stop())

test.concurrent('seeds wake a finished crawl on Redis, and what was seen is seen', LONG, () =>
  wokenBySeeds(redis, 'worker', settingsOf(redis, 'woken', { SCHEDULER_PERSIST: true })),
)

test.concurrent('webloom clear leaves no key of the crawl', LONG, () => clearedWhole(redis, 'turns'))
