/** `cluster-redis.test.ts` and `cluster-full.test.ts` for longer, and in both modes. */

import { describe, test } from 'vitest'
import {
  cutOff,
  full,
  fullUntilDrained,
  joinsFull,
  killedAndRestarted,
  stoodStill,
} from './cluster-outages.ts'

const AWAY_MS = 20_000

describe.each(['turns', 'job'] as const)('QUEUE_MODE=%s', (mode) => {
  describe.each(['queue', 'filter'] as const)('the Redis of the %s, in mid-crawl', (role) => {
    test('is killed with -9 and comes back: every page is crawled', () => killedAndRestarted(role, { mode }))

    test('hangs for 20 s, with its connections open: every page is crawled', () =>
      cutOff(role, 'hang', AWAY_MS, { mode }))

    test('refuses connections for 20 s: every page is crawled', () => cutOff(role, 'down', AWAY_MS, { mode }))

    test('is at its maxmemory for 20 s: every page is crawled', () => full(role, AWAY_MS, { mode }))
  })

  test('the Redis of the queue has room for no more than it holds: the crawl drains it, and ends complete', () =>
    fullUntilDrained({ mode }))

  test('a worker that stood still for 30 s changes nothing when it goes on', () =>
    stoodStill(30_000, { mode }))
})

test('QUEUE_MODE=job: one waits until there is room, and another ends when it is told to', () =>
  joinsFull('job'))
