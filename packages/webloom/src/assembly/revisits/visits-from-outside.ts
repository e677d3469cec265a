/** The visits of a crawl, for commands that take no part in it. */

import { fingerprinterOf, type Request, UsageError, type VisitStore } from '@webloom/core'
import { JobDir, RedisVisits } from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import type { LoadedConfig } from '../../loading/config.ts'
import { crawlerFromOutside, crawlFromOutside, type OutsideFlags } from '../crawl-from-outside.ts'

/** Where the command runs. */
export interface VisitsPlace {
  readonly Class: SpiderClass
  readonly config: LoadedConfig
}

/** Opens the visits for as long as `act` takes. Throws WL_JOBDIR_LOCKED for a JOBDIR in use. */
export async function withVisits(
  { Class, config }: VisitsPlace,
  flags: OutsideFlags,
  act: (visits: VisitStore, fingerprint: (request: Request) => string) => Promise<void>,
): Promise<void> {
  const crawler = await crawlerFromOutside(Class, flags, config)
  const fingerprinter = fingerprinterOf(crawler.settings, 'scrapy')
  const fingerprint = (request: Request) => fingerprinter.fingerprint(request)
  const jobDir = JobDir.fromCrawler(crawler)
  try {
    if (jobDir) {
      jobDir.openFrontier()
      await act(jobDir.visits, fingerprint)
    } else if (crawler.servers.connection('queue')) {
      await crawler.servers.open()
      await act(new RedisVisits({ ...crawlFromOutside(crawler, config.folder), fingerprint }), fingerprint)
    } else
      throw new UsageError(
        'WL_USAGE',
        'visits are kept in a JOBDIR or on Redis, and none is named. Set -s JOBDIR=folder or -s REDIS_URL=redis://host:6379, as the crawl has it',
      )
  } finally {
    await jobDir?.record.close()
    crawler.servers.close()
  }
}
