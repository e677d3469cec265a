/** A Redis of items that is the crawl’s, or stands beside a crawl in memory, and is in trouble for longer than a crawl waits for it. */

import { test } from 'vitest'
import { DEMOTED, expectItemsTold, type ItemsLost } from './items-redis-lost.ts'

test.concurrent.each<ItemsLost>([
  {
    ...DEMOTED,
    where: 'is the crawl’s',
    urls: (_queue, items) => ({ REDIS_URL: items.url, ITEMS_REDIS_URL: items.url }),
  },
  {
    ...DEMOTED,
    where: 'has a crawl in memory',
    urls: (_queue, items) => ({ REDIS_URL: null, ITEMS_REDIS_URL: items.url }),
  },
])(
  'one that $what and $where: the crawl ends and tells how many items it has not written, and no page is lost',
  expectItemsTold,
)
