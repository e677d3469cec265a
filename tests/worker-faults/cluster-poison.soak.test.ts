/** `cluster-poison.test.ts` in both modes, and with the protocol's own times. */

import { test } from 'vitest'
import { poisonedCrawl } from './cluster-poison.ts'

test.each(['turns', 'job'] as const)(
  'QUEUE_MODE=%s: a poison page is quarantined after three workers, and its neighbours are crawled',
  (mode) => poisonedCrawl(mode),
)
