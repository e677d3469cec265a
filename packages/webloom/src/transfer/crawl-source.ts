/** The crawl whose requests are written elsewhere: on Redis, or in its JOBDIR. It must not move meanwhile. */

import { UsageError, WebloomError } from '@webloom/core'
import {
  crawlFrontier,
  crawlShown,
  type FrontierEntry,
  JobDir,
  keysAsStored,
  readCrawl,
} from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import {
  type CrawlerFromOutside,
  type CrawlFromOutside,
  crawlerFromOutside,
  type OutsideFlags,
  withCrawlFromOutside,
} from '../assembly/crawl-from-outside.ts'
import type { LoadedConfig } from '../loading/config.ts'

export interface CrawlSource {
  readonly crawler: CrawlerFromOutside
  /** For messages. */
  readonly shown: string
  /** How many there are: waiting, held back, in flight. */
  readonly size: number
  readonly entries: AsyncIterable<FrontierEntry>
  /** Throws when it was found to have moved while it was read. */
  checkStill(): Promise<void>
}

/** Throws WL_USAGE for a crawl that moves, WL_JOBDIR_LOCKED for a JOBDIR in use. */
export async function withCrawlSource<T>(
  Class: SpiderClass,
  flags: OutsideFlags,
  config: LoadedConfig,
  act: (source: CrawlSource) => Promise<T>,
): Promise<T> {
  const crawler = await crawlerFromOutside(Class, flags, config)
  const jobDir = JobDir.fromCrawler(crawler)
  if (jobDir) {
    try {
      const place = `the crawl in ${crawler.settings.get('JOBDIR')}`
      const size = jobDir.openFrontier()
      return await act({
        crawler,
        shown: place,
        size,
        entries: jobDir.frontier(),
        checkStill: async () => {},
      })
    } finally {
      await jobDir.record.close()
    }
  }
  return withCrawlFromOutside(Class, flags, config, async (crawl) => {
    const size = await sizeAtRest(crawl)
    return act({
      crawler,
      shown: `${crawlShown(crawl.keys)} on ${crawl.shown}`,
      size,
      entries: crawlFrontier(crawl),
      async checkStill() {
        if ((await sizeAtRest(crawl)) !== size) throw moved(crawl)
      },
    })
  })
}

async function sizeAtRest(crawl: CrawlFromOutside): Promise<number> {
  const { counts, workers, paused, state } = await readCrawl({ ...crawl, keys: await keysAsStored(crawl) })
  const present = workers.filter(({ lost }) => !lost).length
  const isStill = present === 0 || (paused && counts.leased === 0)
  if (!isStill)
    throw new UsageError(
      'WL_USAGE',
      `${crawlShown(crawl.keys)} is still running: ${present} worker${present === 1 ? ' is' : 's are'} ${paused ? `finishing ${counts.leased} requests; wait for them` : `at work (${state}). webloom pause ${crawl.typed}  lets them finish what they have; then export it`}`,
    )
  return counts.waiting + counts.delayed + counts.leased
}

function moved(crawl: CrawlFromOutside): WebloomError {
  return new WebloomError(
    'WL_OUTPUT_FAILED',
    `${crawlShown(crawl.keys)} has moved while it was exported: the export is incomplete. Pause the crawl and export it again`,
  )
}
