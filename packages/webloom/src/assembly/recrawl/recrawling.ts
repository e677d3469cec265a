/** What a crawl has beside its other parts when it comes back to its pages (RECRAWL). A crawl that does not has nothing of it. */

import {
  CloseSpider,
  type Crawler,
  fingerprinterOf,
  type GonePage,
  KnownHosts,
  type RequestQueue,
  SettingsError,
  type VisitedPage,
} from '@webloom/core'
import { HostValidation } from '@webloom/downloader'
import { RevisitingScheduler, type Scheduler, type SchedulerParts, VisitPlanner } from '@webloom/scheduler'
import {
  type EngineDownloader,
  type Monitors,
  PageVisits,
  RevisitingDownloader,
  type Spider,
} from '@webloom/spider'
import { visitHoursOf } from './visit-hours.ts'

export interface Recrawling {
  readonly pages: PageVisits
  downloader(downloader: EngineDownloader): EngineDownloader
  scheduler(parts: SchedulerParts): Scheduler
}

interface RecrawlingParts {
  readonly spider: Spider
  readonly monitors: Monitors | undefined
  readonly queue: RequestQueue
  readonly isOnRedis: boolean
  /** The crawl ends when nothing is left to do. */
  readonly ends: boolean
  readonly onGone: (page: GonePage) => Promise<void>
}

/** Due pages are kept by tens of minutes there. */
const REDIS_HOURS_MIN = 0.5

/** Undefined where RECRAWL is off. Opens nothing. */
export function recrawling(
  crawler: Crawler,
  { spider, monitors, queue, isOnRedis, ends, onGone }: RecrawlingParts,
): Recrawling | undefined {
  const { settings, stats, logger } = crawler
  const kind = settings.get('RECRAWL')
  if (kind === 'off') return undefined
  const { visits } = queue
  if (!visits)
    throw new SettingsError([
      `RECRAWL is ${kind}, and a crawl with QUEUE_MODE=job keeps no visits of its pages. Set QUEUE_MODE=turns, or RECRAWL=off`,
    ])
  const visitHours = visitHoursOf(settings)
  const { minHours } = visitHours
  if (minHours < REDIS_HOURS_MIN && isOnRedis)
    throw new SettingsError([
      `RECRAWL_INTERVAL${kind === 'fixed' ? '' : '_MIN'} is ${minHours} hours; on Redis ${REDIS_HOURS_MIN} is the least, as a page is due up to ten minutes before its hour there`,
    ])
  if (settings.getBool('HTTPCACHE_ENABLED'))
    logger.warn(
      `RECRAWL is ${kind}, and HTTPCACHE_ENABLED is true: pages that come from the cache are not fetched, so their changes go unnoticed. Turn one of the two off`,
    )
  if (ends && !isOnRedis && settings.get('JOBDIR') === null)
    logger.info(
      `RECRAWL is ${kind}, and this crawl is in memory: it forgets its visits when it ends. Set JOBDIR=folder or REDIS_URL=redis://host:6379, or let it stay (--stay)`,
    )
  const writesUnchanged = settings.getBool('RECRAWL_UNCHANGED_ITEMS')
  const counting = writesUnchanged ? [] : countingItems(monitors)
  if (counting.length > 0)
    logger.warn(
      `${counting.join(' and ')} count${counting.length === 1 ? 's' : ''} the items that are written, and RECRAWL is ${kind}: those of pages that have not changed are not written again, so from the second run on nearly all will seem to be missing. Watch coverage, statuses and errors in their place, or set RECRAWL_UNCHANGED_ITEMS=true`,
    )
  const hosts = new KnownHosts(visits)
  const planner = new VisitPlanner({
    store: visits,
    hosts,
    kind,
    ...visitHours,
  })
  const validation = new HostValidation({
    hosts,
    onLied: (host) => {
      stats.inc('recrawl/lying_hosts')
      logger.warn(
        { host },
        'this host answered 304 (not modified) for a page that had changed; from now on its pages are fetched whole',
      )
    },
  })
  const pages: PageVisits = new PageVisits({
    spider,
    fingerprinter: fingerprinterOf(settings, 'scrapy'),
    rules: planner,
    validation,
    writesUnchanged,
    onGone: async ({ fingerprint, request }: VisitedPage) => {
      await toldTo(crawler, spider, request.url)
      await onGone({ url: request.url, id: fingerprint, request })
    },
    stats,
    logger,
  })
  return {
    pages,
    downloader: (downloader) => new RevisitingDownloader(downloader, pages),
    scheduler: (parts) =>
      RevisitingScheduler.fromCrawler(crawler, {
        ...parts,
        visits,
        planner,
        hosts,
        underWay: pages,
        ends,
      }),
  }
}

/** The monitors that take items which are not written for such as are missing. */
function countingItems({ items }: Monitors = {}): string[] {
  return (['min', 'drop', 'everyMinutes'] as const).flatMap((name) =>
    items?.[name] ? [`the monitor items.${name}`] : [],
  )
}

/**
 * Refuses a run without RECRAWL that would fetch pages which are to be visited again: they would be done for good, while their visits say that
 * they wait in a line. Where nothing is queued the run would fetch a start page and end well, as if no page were due.
 * SCHEDULER_FLUSH_ON_START would forget the requests, and not the visits.
 */
export async function refuseVisitedPages(
  { visitsKept }: { readonly visitsKept: () => Promise<number> },
  spiderName: string,
): Promise<void> {
  const pages = await visitsKept()
  if (pages === 0) return
  throw new SettingsError([
    `RECRAWL is off, and the crawl that goes on here comes back to its pages (${pages} are known): none would be visited again at its hour. Set RECRAWL as before, -s RECRAWL=adaptive or -s RECRAWL=fixed, or forget the crawl with its visits: webloom clear ${spiderName}, or another JOBDIR`,
  ])
}

/** A spider that throws does not end the crawl: pipelines are told all the same, as when one of them throws. */
async function toldTo(crawler: Crawler, spider: Spider, url: string): Promise<void> {
  try {
    await spider.gone?.(url)
  } catch (error) {
    if (error instanceof CloseSpider) return crawler.close(error.reason)
    crawler.stats.inc('recrawl/gone_error_count')
    crawler.logger.error({ url, err: error }, 'the spider’s gone() threw')
  }
}
