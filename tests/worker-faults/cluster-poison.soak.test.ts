/** A page that kills every worker that has it. What the queue does of it is in bucket-crashes.test.ts and bull-job-crashes.test.ts. */

import { test } from 'vitest'
import { poisonedCrawl } from './cluster-poison.ts'

test.each(['turns', 'job'] as const)(
  'QUEUE_MODE=%s: a poison page is quarantined after three workers, its neighbours are crawled, and a retry is crawled once the spider is mended',
  (mode) => poisonedCrawl(mode),
)
