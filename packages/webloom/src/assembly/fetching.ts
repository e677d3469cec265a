/** The parts that fetch and scrape single pages: of a crawl, and of commands and tests that have no crawl around them. */

import type { Crawler, DownloaderInside, DownloadOptions, ResponseInit, UrlMemory } from '@webloom/core'
import {
  composeMiddlewares,
  Downloader,
  downloadHandlersOf,
  HostAddresses,
  HttpDownloadHandler,
  HttpProxyMiddleware,
  handlerFor,
} from '@webloom/downloader'
import { pageBoundsOf, Response, Scraper, type Spider } from '@webloom/spider'
import { placedComponents } from '../loading/placed-components.ts'
import { DOWNLOADER_MIDDLEWARES, SPIDER_MIDDLEWARES } from './builtin-components.ts'

/**
 * Makes responses with selectors, whose trees the parser builds that HTML_PARSER names, within the bounds of a page.
 *
 * @param urls what the crawl knows of the URLs that its pages link to
 */
export function responseFactory(
  { settings, stats, logger }: Pick<Crawler, 'settings' | 'stats' | 'logger'>,
  urls: UrlMemory,
): (url: string, init: ResponseInit) => Response {
  const htmlParser = settings.get('HTML_PARSER')
  const bounds = pageBoundsOf(settings, stats, logger)
  return (url, init) => new Response(url, { ...init, htmlParser, bounds, urls })
}

/**
 * @param folder from which `./file.ts#Export` in settings is meant
 * @param addresses what is known of hosts' names
 */
export async function downloaderOf(
  crawler: Crawler,
  folder: string,
  addresses = HostAddresses.fromCrawler(crawler),
): Promise<Downloader> {
  const http = HttpDownloadHandler.fromCrawler(crawler, crawler.createResponse, addresses)
  const handlers = downloadHandlersOf(crawler, http)
  // The middlewares need the downloader, and it is made of them.
  const inside: DownloaderInside = {
    optionsOf: (request) => downloader.optionsOf(request),
    blameHost: (request) => downloader.blameHost(request),
    isHostToBlame: (request) => downloader.isHostToBlame(request),
    download: (request, given) => byProxy(request, given),
  }
  const middlewares = await placedComponents(
    'DOWNLOADER_MIDDLEWARES',
    DOWNLOADER_MIDDLEWARES,
    { ...crawler, downloader: inside },
    folder,
  )
  const byProxy = composeMiddlewares(
    middlewares.filter(({ component }) => component instanceof HttpProxyMiddleware),
    (request, given: DownloadOptions) => handlerFor(request, handlers).download(request, given),
  )
  const downloader: Downloader = Downloader.fromCrawler(crawler, {
    handlers,
    middlewares,
  })
  return downloader
}

/**
 * @param folder as for `downloaderOf`
 * @param urls as for `responseFactory`
 */
export async function scraperOf(
  crawler: Crawler,
  spider: Spider,
  downloader: Downloader,
  folder: string,
  urls: UrlMemory,
): Promise<Scraper> {
  const { settings, stats, signals, logger } = crawler
  return new Scraper({
    spider,
    middlewares: await placedComponents('SPIDER_MIDDLEWARES', SPIDER_MIDDLEWARES, crawler, folder),
    admits: (request) => downloader.admits(request),
    urls,
    outputMax: settings.getInt('CALLBACK_OUTPUT_MAX'),
    stats,
    signals,
    logger,
  })
}
