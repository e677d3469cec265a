/** The ledger of failures of a crawl, for those that read it or remove from it: on Redis, or in its JOBDIR. */

import type { FailureLedger } from '@webloom/core'
import { JobDir, readLedger, refuseOtherFormat } from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import {
  type CrawlFromOutside,
  crawlerFromOutside,
  type OutsideFlags,
  withCrawlFromOutside,
} from '../assembly/crawl-from-outside.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { typedCrawl } from '../redis/typed-crawl.ts'

export interface FailuresFromOutside {
  readonly failures: FailureLedger
  /** How the crawl is named in lines to type. */
  readonly typed: string
}

/** Throws WL_JOBDIR_LOCKED for a JOBDIR in use. */
export async function withFailures<T>(
  Class: SpiderClass,
  flags: OutsideFlags,
  config: LoadedConfig,
  act: (crawl: FailuresFromOutside) => Promise<T>,
): Promise<T> {
  const crawler = await crawlerFromOutside(Class, flags, config)
  const jobDir = JobDir.fromCrawler(crawler)
  const typed = typedCrawl(crawler.spider, crawler.settings)
  if (!jobDir)
    return withCrawlFromOutside(Class, flags, config, async (crawl) =>
      act({ failures: await failuresOf(crawl), typed }),
    )
  try {
    jobDir.openFrontier()
    return await act({ failures: jobDir.queue.failures, typed })
  } finally {
    await jobDir.record.close()
  }
}

/**
 * Resolves to the failures of a crawl on Redis, to be read and removed from. To be queued again they need the crawl's queue:
 * `withRedisTarget`. Rejects with WL_CRAWL_FORMAT for a crawl of another release.
 */
export async function failuresOf(crawl: CrawlFromOutside): Promise<FailureLedger> {
  await refuseOtherFormat(crawl)
  return readLedger(crawl.redis, crawl.keys)
}
