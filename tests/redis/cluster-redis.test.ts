/**
 * Crawls of two workers whose Redis fails in the middle, with the protocol's times cut short. All at the same time, as most of
 * it is waiting. Each fault at each server, one that hangs, and a worker that stands still, in both modes and with the real times in
 * cluster-redis.soak.test.ts; a full Redis and a worker that stands still are in worlds, too.
 */

import { test } from 'vitest'
import { SHORT_TIMES } from '../cluster/cluster-crawl.ts'
import { cutOff, killedAndRestarted } from './cluster-outages.ts'

const LONG = { timeout: 240_000 }
const CRAWL = { mode: 'turns', pagesPerHost: 60, factor: SHORT_TIMES } as const
/** Longer than a connection may be silent, and than a lock lasts. */
const AWAY_MS = 8000 * SHORT_TIMES

test.concurrent(
  'the Redis of the queue is killed with -9 in mid-crawl and comes back: every page is crawled',
  LONG,
  () => killedAndRestarted('queue', CRAWL),
)

test.concurrent('the Redis of the filter refuses connections: every page is crawled', LONG, () =>
  cutOff('filter', 'down', AWAY_MS, CRAWL),
)
