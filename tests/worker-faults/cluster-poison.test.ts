/** A page that kills every worker that has it. In both modes and with the real times in cluster-poison.soak.test.ts. */

import { test } from 'vitest'
import { SHORT_TIMES } from '../cluster/cluster-crawl.ts'
import { poisonedCrawl } from './cluster-poison.ts'

test(
  'a poison page is quarantined after three workers, its neighbours are crawled, and a retry is crawled once the spider is mended',
  {
    timeout: 240_000,
  },
  () => poisonedCrawl('turns', SHORT_TIMES),
)
