/** The parts that fetch and scrape single pages: of a crawl, and of commands and tests that have no crawl around them. */

import type { Crawler, DownloadOptions, Request, ResponseInit } from '@webloom/core'
import {
  composeMiddlewares,
  Downloader,
  HostAddresses,
  HttpDownloadHandler,
  HttpProxyMiddleware,
} from '@webloom/downloader'
import { pageBoundsOf, Response, Scraper, type Spider } from '@webloom/spider'
import { DOWNLOADER_MIDDLEWARES, paceMiddlewares, SPIDER_MIDDLEWARES } from './builtin-components.ts'
import { cookies, robotsTxt } from './connected-components.ts'
import { placedComponents } from './loading/placed-components.ts'
import type { RedisServers } from './redis-servers.ts'

/** Answers with selectors, whose trees the parser builds that HTML_PARSER names, within the bounds of a page. */
export function responseFactory({
  settings,
  stats,
  logger,
}: Pick<Crawler, 'settings' | 'stats' | 'logger'>): (url: string, init: ResponseInit) => Response {
  const htmlParser = settings.get('HTML_PARSER')
  const bounds = pageBoundsOf(settings, stats, logger)
  return (url, init) => new Response(url, { ...init, htmlParser, bounds })
}

/**
 * @param folder from which `./file.ts#Export` in settings is meant
 * @param addresses what is known of hosts' names
 */
export async function downloaderOf(
  crawler: Crawler,
  servers: RedisServers,
  folder: string,
  addresses = HostAddresses.fromCrawler(crawler),
): Promise<Downloader> {
  const http = HttpDownloadHandler.fromCrawler(crawler, crawler.createResponse, addresses)
  // The middlewares need the downloader, and it is made of them.
  const optionsOf = (request: Request) => downloader.optionsOf(request)
  const robots = robotsTxt(servers, {
    download: (request, given) => byProxy(request, given),
    onStart: (request) => optionsOf(request)?.onStart(),
    onCrawlDelay: (request, seconds) => optionsOf(request)?.onHostNews?.({ delayMs: seconds * 1000 }),
    onWait: (request, pauseMs) =>
      optionsOf(request)?.onHostNews?.({ pauseMs, pauseReason: 'its robots.txt cannot be had' }),
  })
  const middlewares = await placedComponents(
    'DOWNLOADER_MIDDLEWARES',
    [...DOWNLOADER_MIDDLEWARES, ...paceMiddlewares(optionsOf), cookies(servers), robots],
    crawler,
    folder,
  )
  // A robots.txt goes by the same proxies as the pages, and past all else.
  const byProxy = composeMiddlewares(
    middlewares.filter(({ component }) => component instanceof HttpProxyMiddleware),
    (request, given: DownloadOptions) => http.download(request, given),
  )
  const downloader: Downloader = Downloader.fromCrawler(crawler, {
    handlers: { http, https: http },
    middlewares,
  })
  return downloader
}

/** @param folder as for `downloaderOf` */
export async function scraperOf(
  crawler: Crawler,
  spider: Spider,
  downloader: Downloader,
  folder: string,
): Promise<Scraper> {
  const { settings, stats, signals, logger } = crawler
  return new Scraper({
    spider,
    middlewares: await placedComponents('SPIDER_MIDDLEWARES', SPIDER_MIDDLEWARES, crawler, folder),
    admits: (request) => downloader.admits(request),
    outputMax: settings.getInt('CALLBACK_OUTPUT_MAX'),
    stats,
    signals,
    logger,
  })
}
