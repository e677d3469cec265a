/** What somebody orders for a host of a running crawl, by `webloom host` or a dashboard. */

import { UsageError } from '@webloom/core'
import {
  crawlShown,
  HOST_ORDERS_MAX,
  type HostOrderChange,
  orderHost,
  refuseOtherFormat,
} from '@webloom/queue'
import type { CrawlFromOutside } from '../../assembly/crawl-from-outside.ts'
import { grouped } from '../../terminal/figures.ts'

/** Orders it for all workers of the crawl. Throws WL_USAGE when there is no crawl, or it would be one host too many. */
export async function setHost(crawl: CrawlFromOutside, name: string, change: HostOrderChange): Promise<void> {
  if (change.boost && crawl.crawler.settings.get('QUEUE_MODE') === 'job')
    throw new UsageError(
      'WL_USAGE',
      'with QUEUE_MODE=job each request has a priority of its own, and no host can be boosted. Give its requests a priority, or use QUEUE_MODE=turns',
    )
  await refuseOtherFormat(crawl)
  const result = await orderHost(crawl, name, change)
  if (result === 'no crawl')
    throw new UsageError(
      'WL_USAGE',
      `there is no ${crawlShown(crawl.keys)}, so no worker can be told. webloom worker ${crawl.typed}  begins one`,
    )
  if (result === 'full')
    throw new UsageError(
      'WL_USAGE',
      `${grouped(HOST_ORDERS_MAX)} hosts have orders, which is the most. Take some back with --delay default --resume --unboost, or set DOWNLOAD_SLOTS`,
    )
}
