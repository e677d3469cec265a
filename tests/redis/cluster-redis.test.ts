/**
 * Crawls of two workers whose Redis fails in the middle, with the protocol's times cut short. All at the same time, as most of
 * it is waiting. Each fault at each server, in both modes and with the real times in cluster-redis.soak.test.ts.
 */

import { test } from 'vitest'
import { SHORT_TIMES } from '../cluster/cluster-crawl.ts'
import { cutOff, full, killedAndRestarted, stoodStill } from './cluster-outages.ts'

const LONG = { timeout: 240_000 }
const CRAWL = { mode: 'turns', pagesPerHost: 100, factor: SHORT_TIMES } as const
/** Longer than a connection may be silent, and than a lock lasts. */
const AWAY_MS = 8000 * SHORT_TIMES

test.concurrent(
  'the Redis of the queue is killed with -9 in mid-crawl and comes back: every page is crawled',
  LONG,
  () => killedAndRestarted('queue', CRAWL),
)

test.concurrent('the Redis of the queue hangs, with its connections open: every page is crawled', LONG, () =>
  cutOff('queue', 'hang', AWAY_MS, CRAWL),
)

test.concurrent('the Redis of the filter refuses connections: every page is crawled', LONG, () =>
  cutOff('filter', 'down', AWAY_MS, CRAWL),
)

test.concurrent('the Redis of the queue is at its maxmemory for a while: every page is crawled', LONG, () =>
  full('queue', AWAY_MS, CRAWL),
)

test.concurrent(
  'a worker that stood still until others had its pages changes nothing when it goes on',
  LONG,
  () => stoodStill(12_000 * SHORT_TIMES, CRAWL),
)
