/** What a crawl has beside its other parts when it comes back to its pages (RECRAWL). A crawl that does not has nothing of it. */

import {
  CloseSpider,
  type Crawler,
  fingerprinterOf,
  type GonePage,
  KnownHosts,
  type RequestQueue,
  type VisitedPage,
} from '@webloom/core'
import { HostValidation } from '@webloom/downloader'
import { RevisitingScheduler, type Scheduler, type SchedulerParts, VisitPlanner } from '@webloom/scheduler'
import {
  type EngineDownloader,
  InvalidItem,
  type Monitors,
  PageVisits,
  RevisitingDownloader,
  type Spider,
} from '@webloom/spider'
import { howToForget, keptVisitsOf, refuseShortHours, warnOfRecrawl } from './recrawl-refusals.ts'
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

/** Undefined where RECRAWL is off. Opens nothing. */
export function recrawling(crawler: Crawler, parts: RecrawlingParts): Recrawling | undefined {
  const kind = crawler.settings.get('RECRAWL')
  if (kind === 'off') return undefined
  const visits = keptVisitsOf(parts.queue, kind)
  const visitHours = visitHoursOf(crawler.settings)
  if (parts.isOnRedis) refuseShortHours(visitHours, kind)
  warnOfRecrawl(crawler, { ...parts, kind })
  const hosts = new KnownHosts(visits)
  const planner = new VisitPlanner({ store: visits, hosts, kind, ...visitHours })
  const pages = pageVisits(crawler, { ...parts, hosts, planner })
  spoiledByPipelines(crawler, pages)
  return {
    pages,
    downloader: (downloader) => new RevisitingDownloader(downloader, pages),
    scheduler: (schedulerParts) =>
      RevisitingScheduler.fromCrawler(crawler, {
        ...schedulerParts,
        ...{ visits, planner, hosts, underWay: pages, ends: parts.ends, howToForget: howToForget(crawler) },
      }),
  }
}

/** A page whose items could not all be written is visited again soon. One that an item's schema refused would be refused again. */
function spoiledByPipelines({ signals }: Crawler, pages: PageVisits): void {
  signals.connect('itemError', ({ response, error }) => {
    if (response?.hasRequest && !(error instanceof InvalidItem)) pages.spoiled(response.request)
  })
}

interface PageVisitsParts extends Pick<RecrawlingParts, 'spider' | 'onGone'> {
  readonly hosts: KnownHosts
  readonly planner: VisitPlanner
}

function pageVisits(crawler: Crawler, { spider, onGone, hosts, planner }: PageVisitsParts): PageVisits {
  const { settings, stats, logger } = crawler
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
  return new PageVisits({
    spider,
    fingerprinter: fingerprinterOf(settings, 'scrapy'),
    rules: planner,
    validation,
    writesUnchanged: settings.getBool('RECRAWL_UNCHANGED_ITEMS'),
    onGone: async ({ fingerprint, request }: VisitedPage) => {
      await toldTo(crawler, spider, request.url)
      await onGone({ url: request.url, id: fingerprint, request })
    },
    stats,
    logger,
  })
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
