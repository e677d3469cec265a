/** Workers that join a crawl whose Redis is at its maxmemory. */

import { test } from 'vitest'
import { joinsFull } from './cluster-outages.ts'

// With jobs: cluster-redis.soak.test.ts.
test(
  'QUEUE_MODE=turns: one waits until there is room, and another ends when it is told to',
  {
    timeout: 120_000,
  },
  () => joinsFull('turns'),
)
