/** The parts that fetch and scrape single pages: alike for a crawl, and for commands and tests that have no crawl around them. */

import {
  type Crawler,
  crawlUrlRules,
  type DownloaderInside,
  type DownloadHandler,
  type DownloadOptions,
  type OpenEgress,
  putUnderRules,
  type ResponseInit,
  type UrlMemory,
} from '@webloom/core'
import {
  BROWSER_HANDLER,
  composeMiddlewares,
  Downloader,
  downloadDeadlineOf,
  downloadHandlersOf,
  EgressGate,
  HttpDownloadHandler,
  handlerAnswer,
  handlerFor,
  ownHandlerOf,
} from '@webloom/downloader'
import { DocumentLine, type HostSlots, MemoryHostClock } from '@webloom/queue'
import {
  type CrawlsResponse,
  type PageVisits,
  pageBoundsOf,
  Response,
  RevisitingScraper,
  Scraper,
  type ScraperOptions,
  type Spider,
} from '@webloom/spider'
import { BrowserHandler } from '../browser/browser-handler.ts'
import { inOneError, placedComponents } from '../loading/placed-components.ts'
import { DOWNLOADER_MIDDLEWARES, SPIDER_MIDDLEWARES } from './builtin-components.ts'
import { PacedFetch } from './paced-fetch.ts'

export interface PageFetchingOptions {
  /** Under which name each host's pace is kept: as the crawl's queue has it. */
  readonly slots: HostSlots
  /** What the crawl knows of the URLs that its pages link to. */
  readonly urls: UrlMemory
  /** From which `./file.ts#Export` in settings is meant. */
  readonly folder: string
}

/** What fetches and scrapes pages. */
export interface PageFetching {
  /** `crawler.fetch`: past the queue, at the pace of the request's host. Not before `open`. */
  readonly fetch: NonNullable<Crawler['fetch']>
  /**
   * Makes the downloader and the scraper, with their middlewares.
   *
   * @param visits of a crawl that comes back to its pages
   */
  open(
    crawler: Crawler,
    spider: Spider,
    visits?: PageVisits,
  ): Promise<{ downloader: Downloader; scraper: Scraper }>
}

/** Pages are fetched under the crawl's own rules: its URL_RULES, its politeness, its middlewares. Opens no connection. */
export function pageFetching(base: Crawler, { slots, urls, folder }: PageFetchingOptions): PageFetching {
  const { settings, stats } = base
  const rules = crawlUrlRules(settings)
  const clock = MemoryHostClock.fromCrawler(base)
  const paced: PacedFetch = new PacedFetch({
    download: (request, given) => {
      putUnderRules(request, rules.current)
      return downloader.fetch(request, given)
    },
    clock,
    documents: new DocumentLine({ clock, slots, onChange: (slot) => paced.changed(slot) }),
    urlLengthMax: settings.getInt('URLLENGTH_LIMIT'),
    stats,
    slotOf: async (request) => {
      await slots.prepare([{ request }])
      return slots.slotOf(request)
    },
  })
  let downloader: Downloader
  return {
    fetch: (request, given) => paced.fetch(request, given),
    async open(crawler, spider, visits) {
      const [made, middlewares] = await inOneError(
        () => downloaderOf(crawler, folder),
        () => placedComponents('SPIDER_MIDDLEWARES', SPIDER_MIDDLEWARES, crawler, folder),
      )
      downloader = made
      return {
        downloader,
        scraper: scraperOf(crawler, spider, { downloader, middlewares, urls, visits }),
      }
    },
  }
}

/**
 * Makes responses with selectors, whose trees the parser builds that HTML_PARSER names, within the bounds of a page.
 *
 * @param urls what the crawl knows of the URLs that its pages link to
 */
export function responseFactory(
  crawler: Pick<Crawler, 'settings' | 'stats' | 'logger'>,
  urls: UrlMemory,
): (url: string, init: ResponseInit) => Response {
  const crawls = crawlsResponse(crawler, urls)
  return (url, init) => new Response(url, { ...init, ...crawls })
}

function crawlsResponse(
  { settings, stats, logger }: Pick<Crawler, 'settings' | 'stats' | 'logger'>,
  urls: UrlMemory,
): CrawlsResponse {
  const htmlParser = settings.get('HTML_PARSER')
  const bounds = pageBoundsOf(settings, stats, logger)
  const handlers = Object.entries(settings.getDict('DOWNLOAD_HANDLERS'))
  const schemes = new Set(handlers.flatMap(([scheme, handler]) => (handler === null ? [] : scheme)))
  return { htmlParser, bounds, urls, schemes }
}

/**
 * Connects to what is no page of the crawl, such as a webhook, as the crawl does: an address that is not public must be in
 * PRIVATE_ADDRESSES_ALLOWED. That a host is one of the crawl's start requests is no reason to tell it anything.
 */
export function besidesPages({ startHosts: _none, ...crawler }: Crawler): DownloadHandler {
  return HttpDownloadHandler.fromCrawler(crawler)
}

/** @param folder from which `./file.ts#Export` in settings is meant */
async function downloaderOf(crawler: Crawler, folder: string): Promise<Downloader> {
  let gate: EgressGate | undefined
  const openEgress: OpenEgress = (request, given) => {
    gate ??= EgressGate.fromCrawler(crawler)
    return gate.open(request, given)
  }
  const handlers = downloadHandlersOf({ ...crawler, openEgress }, { [BROWSER_HANDLER]: BrowserHandler })
  const deadline = downloadDeadlineOf(crawler)
  // The middlewares need the downloader, and it is made of them.
  const inside: DownloaderInside = {
    optionsOf: (request) => downloader.optionsOf(request),
    blameHost: (request) => downloader.blameHost(request),
    isHostToBlame: (request) => downloader.isHostToBlame(request),
    ownHandlerOf: (url) => ownHandlerOf(url, handlers),
    download: (request, given) => byItsWay(request, given),
  }
  const middlewares = await placedComponents(
    'DOWNLOADER_MIDDLEWARES',
    DOWNLOADER_MIDDLEWARES,
    { ...crawler, downloader: inside },
    folder,
  )
  const byItsWay = composeMiddlewares(
    middlewares.filter(({ component }) => component.alsoForRobotsTxt),
    (request, given: DownloadOptions) =>
      handlerAnswer(handlerFor(request, handlers, given), request, given, deadline),
  )
  const downloader: Downloader = Downloader.fromCrawler(crawler, {
    handlers,
    middlewares,
  })
  return downloader
}

interface ScraperParts {
  readonly downloader: Downloader
  readonly middlewares: ScraperOptions['middlewares']
  /** What the crawl knows of the URLs that its pages link to. */
  readonly urls: UrlMemory
  readonly visits: PageVisits | undefined
}

function scraperOf(
  crawler: Crawler,
  spider: Spider,
  { downloader, middlewares, urls, visits }: ScraperParts,
): Scraper {
  const { settings, stats, signals, logger } = crawler
  const crawls = crawlsResponse(crawler, urls)
  const options: ScraperOptions = {
    spider,
    adopt: (response) => Response.attach(response, crawls),
    middlewares,
    admits: (request) => downloader.admits(request),
    urls,
    outputMax: settings.getInt('CALLBACK_OUTPUT_MAX'),
    stats,
    signals,
    logger,
  }
  return visits ? new RevisitingScraper(options, visits) : new Scraper(options)
}
