/**
 * The master of a crawl's Redis is killed in mid-crawl, with the protocol's times cut short. With the real ones, in both modes and at
 * other moments in fail-over.soak.test.ts.
 */

import { test } from 'vitest'
import { SHORT_TIMES } from '../cluster/cluster-crawl.ts'
import { failsOver, sentinels } from './failing-over.ts'

test('Sentinels make a replica the master: every page is crawled, and the crawl goes on within 5 s', () =>
  failsOver(sentinels, { mode: 'turns', factor: SHORT_TIMES }))
