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
  type GoneHost,
  GonePages,
  InvalidItem,
  type Monitors,
  PageVisits,
  RevisitingDownloader,
  type Spider,
} from '@webloom/spider'
import { shellQuoted } from '../../terminal/resume-line.ts'
import { tellPagesLeftAlone } from './pages-left-alone.ts'
import { howToForget, keptVisitsOf, refuseShortHours, warnOfRecrawl } from './recrawl-refusals.ts'
import { typedRefresh } from './typed-refresh.ts'
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
  const gonePages = new GonePages({ roundMs: planner.startMs, onGone: (host) => tellGone(crawler, host) })
  crawler.signals.connect('spiderClosed', () => gonePages.judge())
  crawler.signals.connect('spiderOpened', () =>
    tellPagesLeftAlone(crawler, { visits, planner, ends: parts.ends }),
  )
  const pages = pageVisits(crawler, { ...parts, hosts, planner, gonePages })
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

/** One that was told of as gone is not lost: it is asked for again, but later. */
function tellGone({ settings, spider, logger }: Crawler, { host, gone, visited }: GoneHost): void {
  logger.error(
    { host, gone, visited },
    `${gone} of ${visited} pages of ${host} are gone: they answered 404 or 410 twice in a row, where they had been there before. They are asked for again in RECRAWL_INTERVAL, then less and less often. If the site was broken, have them visited as soon as it is well:  ${typedRefresh({ settings, spider })} --match ${shellQuoted(`://${host}/`)}`,
  )
}

interface PageVisitsParts extends Pick<RecrawlingParts, 'spider' | 'onGone'> {
  readonly hosts: KnownHosts
  readonly planner: VisitPlanner
  readonly gonePages: GonePages
}

function pageVisits(
  crawler: Crawler,
  { spider, onGone, hosts, planner, gonePages }: PageVisitsParts,
): PageVisits {
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
    ...{ rules: planner, validation, gonePages },
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
