/** A Redis of items, on a server of its own, that is in trouble for longer than a crawl waits for it. */

import { test } from 'vitest'
import { CROWDED, DEMOTED, expectItemsTold, type ItemsLost, ON_ITS_OWN } from './items-redis-lost.ts'

test.concurrent.each<ItemsLost>([
  { ...DEMOTED, ...ON_ITS_OWN },
  { ...CROWDED, ...ON_ITS_OWN },
])(
  'one that $what and $where: the crawl ends and tells how many items it has not written, and no page is lost',
  expectItemsTold,
)
