/**
 * Crawls of two workers whose Redis fails in the middle. All at the same time, as most of it is waiting. The same for longer
 * in cluster-redis.soak.test.ts.
 */

import { describe, test } from 'vitest'
import { cutOff, full, killedAndRestarted, stoodStill } from './cluster-outages.ts'

const LONG = { timeout: 240_000 }
const CRAWL = { mode: 'turns', pagesPerHost: 100 } as const
/** Longer than a connection may be silent (4 s), and than a lock lasts (6 s). */
const AWAY_MS = 8000

describe.concurrent.each(['queue', 'filter'] as const)('the Redis of the %s, in mid-crawl', (role) => {
  test('is killed with -9 and comes back: every page is crawled', LONG, () => killedAndRestarted(role, CRAWL))

  test('hangs, with its connections open: every page is crawled', LONG, () =>
    cutOff(role, 'hang', AWAY_MS, CRAWL),
  )

  test('refuses connections: every page is crawled', LONG, () => cutOff(role, 'down', AWAY_MS, CRAWL))

  test('is at its maxmemory for a while: every page is crawled', LONG, () => full(role, 6000, CRAWL))
})

test.concurrent(
  'a worker that stood still until others had its pages changes nothing when it goes on',
  LONG,
  () => stoodStill(12_000, CRAWL),
)
