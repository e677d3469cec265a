/** Two releases of a spider in one crawl, with the protocol's own times: most of it is waiting. */

import { test } from 'vitest'
import { twoReleases } from './cluster-releases.ts'

test.each(['turns', 'job'] as const)(
  'QUEUE_MODE=%s: two releases at once: what the older one does not know is rejected, and crawled by the newer',
  (mode) => twoReleases(mode),
)
