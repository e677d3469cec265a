/** A crawl of each kind whose master goes in mid-crawl; more of them are in `fail-over.soak.test.ts` and `cut-off.soak.test.ts`. */

import { describe, test } from 'vitest'
import { cutsOff } from './cutting-off.ts'
import { cluster, failsOver, sentinels } from './failing-over.ts'

/** Enough that many are left when the master goes. */
const pagesPerHost = 150

// Most of their time is waiting until a master counts as gone.
describe.concurrent('every page is crawled', () => {
  test('the master is killed, and Sentinels make a replica the master', () =>
    failsOver(sentinels, { mode: 'turns', seed: 2, part: 0.3, pagesPerHost }))

  test("QUEUE_MODE=job: the queue's master in a cluster is killed", () =>
    failsOver(cluster, { mode: 'job', seed: 3, part: 0.6, pagesPerHost }))

  test("the queue's master in a cluster stands still, and comes back as a replica", () =>
    cutsOff({
      topology: 'cluster',
      mode: 'turns',
      filter: 'redis-key',
      fault: 'stopped',
      seed: 1,
      pagesPerHost,
    }))
})
