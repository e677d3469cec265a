/**
 * Crawls whose master goes in mid-crawl, with Sentinels and in a cluster; more of them, and all of QUEUE_MODE=job, are in
 * `fail-over.soak.test.ts` and `cut-off.soak.test.ts`.
 */

import { describe, test } from 'vitest'
import { cutsOff } from './cutting-off.ts'
import { failsOver, sentinels } from './failing-over.ts'

// Most of their time is waiting until a master counts as gone.
describe.concurrent('every page is crawled', () => {
  test('the master is killed, and Sentinels make a replica the master', () =>
    failsOver(sentinels, { mode: 'turns', seed: 2, part: 0.3 }))

  test("the queue's master in a cluster stands still, and comes back as a replica", () =>
    cutsOff({ topology: 'cluster', mode: 'turns', filter: 'redis-key', fault: 'stopped', seed: 1 }))
})
