/** The visits of a crawl, for commands that take no part in it. */

import {
  fingerprinterOf,
  HOUR_MS,
  putUnderRules,
  type Request,
  UsageError,
  type VisitStore,
  valueShown,
} from '@webloom/core'
import { JobDir, RedisVisits } from '@webloom/queue'
import { earlyMsOf, followUrlRules } from '@webloom/scheduler'
import type { NamedSpider } from '../../loading/named-spider.ts'
import {
  crawlerFromOutside,
  crawlFromOutside,
  type OutsideFlags,
  refuseUnknownCrawl,
} from '../crawl-from-outside.ts'
import { visitHoursOf } from './visit-hours.ts'

type Fingerprint = (request: Request) => string

export interface VisitsFromOutside {
  readonly visits: VisitStore
  readonly fingerprint: Fingerprint
  /** How much earlier than at its hour a run visits a page, by the settings of this project. */
  readonly earlyMs: number
}

/** Opens the visits for as long as `act` takes. Throws WL_JOBDIR_LOCKED for a JOBDIR in use, and WL_USAGE where no crawl is kept. */
export async function withVisits(
  { Class, config }: NamedSpider,
  flags: OutsideFlags,
  act: (outside: VisitsFromOutside) => Promise<void>,
): Promise<void> {
  const crawler = await crawlerFromOutside(Class, flags, config)
  const fingerprinter = fingerprinterOf(crawler.settings, 'scrapy')
  const made = (request: Request) => {
    if (fingerprinter.urlRules) putUnderRules(request, fingerprinter.urlRules.current)
    return fingerprinter.fingerprint(request)
  }
  const earlyMs = earlyMsOf(visitHoursOf(crawler.settings).minHours * HOUR_MS)
  const actOn = async (visits: VisitStore) => {
    await followUrlRules(visits, fingerprinter, 'name the crawl that you mean')
    await act({ visits, fingerprint: toldBy(made), earlyMs })
  }
  const jobDir = JobDir.fromCrawler(crawler)
  try {
    if (jobDir) {
      refuseNoCrawl(jobDir)
      jobDir.openFrontier()
      await actOn(jobDir.visits)
    } else if (crawler.servers.connection('queue')) {
      await crawler.servers.open()
      const crawl = crawlFromOutside(crawler, config.folder)
      await refuseUnknownCrawl(crawl)
      await actOn(new RedisVisits({ ...crawl, fingerprint: made }))
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

/** Opening would make the folder, and a misspelt name would look like a crawl that has no visits. */
function refuseNoCrawl({ folder, isThere }: JobDir): void {
  if (isThere) return
  throw new UsageError('WL_USAGE', `no crawl is kept in ${folder}. Set -s JOBDIR=folder as the crawl has it`)
}

/** Returns the same fingerprints, and throws in words, for a page that somebody has named. */
function toldBy(fingerprint: Fingerprint): Fingerprint {
  return (request) => {
    try {
      return fingerprint(request)
    } catch (error) {
      throw new UsageError(
        'WL_USAGE',
        `FINGERPRINTER throws for ${request.url}, so nobody can say which visits are that page's: ${error instanceof Error ? error.message : valueShown(error)}. It must return a text for each request`,
        { cause: error },
      )
    }
  }
}
