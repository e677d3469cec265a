import {
  type Crawler,
  type DownloaderInside,
  type DownloaderMiddleware,
  type DownloadResult,
  MemoryStatsCollector,
  noRedis,
  type Request,
  Response,
  Settings,
  Signals,
  type SpiderLike,
  silentLogger,
} from '@webloom/core'
import { Downloader } from '../src/downloader.ts'
import { HttpDownloadHandler, type HttpDownloadHandlerOptions } from '../src/http/http-download-handler.ts'

/** What a component's `fromCrawler` needs, without a crawl. */
export function testCrawler(settings: object = {}, spider: SpiderLike = { name: 'test' }) {
  return {
    settings: Settings.fromLayers({ command: settings as never }),
    stats: new MemoryStatsCollector(),
    signals: new Signals((_, error) => {
      throw error
    }),
    logger: silentLogger,
    spider,
    redis: noRedis,
    close() {},
  } satisfies Crawler
}

/** The downloader of a crawl as its middlewares know it; what is not given does nothing. */
export function downloaderInside(given: Partial<DownloaderInside>): DownloaderInside {
  return {
    optionsOf: () => undefined,
    download: () => Promise.reject(new Error('nothing is fetched here')),
    blameHost() {},
    isHostToBlame: () => false,
    ownHandlerOf: () => undefined,
    ...given,
  }
}

/** A downloader of these middlewares, in order, over real HTTP. */
export class Fetching {
  readonly #downloader: Downloader

  constructor(middlewares: readonly DownloaderMiddleware[], http: HttpDownloadHandlerOptions = {}) {
    const handler = new HttpDownloadHandler(http)
    this.#downloader = new Downloader({
      handlers: { http: handler, https: handler },
      deadline: { timeoutMs: 5000, stats: new MemoryStatsCollector(), logger: silentLogger },
      middlewares: middlewares.map((component, index) => ({ name: String(index), component })),
      signals: new Signals(() => {}),
      logger: silentLogger,
      spider: { name: 'test' },
    })
  }

  result(request: Request): Promise<DownloadResult> {
    return this.#downloader.fetch(request, { signal: new AbortController().signal, onStart() {} })
  }

  /** The response; throws when a middleware answers with something else. */
  async response(request: Request): Promise<Response> {
    const result = await this.result(request)
    if (result instanceof Response) return result
    throw new Error(`${request} became a ${result.constructor.name}`)
  }

  close(): Promise<void> {
    return this.#downloader.close()
  }
}
