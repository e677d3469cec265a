/** The master of a crawl's Redis is killed in mid-crawl. Both modes, and other moments, in fail-over.soak.test.ts. */

import { test } from 'vitest'
import { failsOver, sentinels } from './failing-over.ts'

test(
  'Sentinels make a replica the master: every page is crawled, and the crawl goes on within 5 s',
  {
    timeout: 90_000,
  },
  () => failsOver(sentinels, { mode: 'turns' }),
)
