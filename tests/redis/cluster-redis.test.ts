/**
 * A crawl of two workers whose Redis fails in the middle, with the protocol's times cut short. Each fault at each server, and a
 * worker that stands still, in both modes and with the real times in cluster-redis.soak.test.ts; a full Redis, one that is away and
 * a worker that stands still are in worlds, too.
 */

import { test } from 'vitest'
import { SHORT_TIMES } from '../cluster/cluster-crawl.ts'
import { killedAndRestarted } from './cluster-outages.ts'

const LONG = { timeout: 240_000 }
const CRAWL = { mode: 'turns', pagesPerHost: 40, factor: SHORT_TIMES } as const

test(
  'the Redis of the queue is killed with -9 in mid-crawl and comes back: every page is crawled',
  LONG,
  () => killedAndRestarted('queue', CRAWL),
)
