import {
  type Crawler,
  DownloadError,
  type DownloaderMiddleware,
  NotConfigured,
  type Request,
  type Response,
  type StatsCollector,
} from '@webloom/core'

/** Counts what goes to the network and what comes from it, under Scrapy's `downloader/*` keys. */
export class DownloaderStatsMiddleware implements DownloaderMiddleware {
  readonly #stats: StatsCollector

  constructor(stats: StatsCollector) {
    this.#stats = stats
  }

  static fromCrawler({ settings, stats }: Crawler): DownloaderStatsMiddleware {
    if (!settings.getBool('DOWNLOADER_STATS')) throw new NotConfigured('DOWNLOADER_STATS is false')
    return new DownloaderStatsMiddleware(stats)
  }

  processRequest(request: Request): void {
    this.#stats.inc('downloader/request_count')
    this.#stats.inc(`downloader/request_method_count/${request.method}`)
    this.#stats.inc('downloader/request_bytes', requestBytes(request))
  }

  processResponse(_: Request, response: Response): Response {
    this.#stats.inc('downloader/response_count')
    this.#stats.inc(`downloader/response_status_count/${response.status}`)
    this.#stats.inc(
      'downloader/response_bytes',
      response.body.length + headerBytes(response.headers) + STATUS_LINE_BYTES,
    )
    return response
  }

  processException(_: Request, error: unknown): void {
    const kind =
      error instanceof DownloadError ? error.kind : error instanceof Error ? error.name : typeof error
    this.#stats.inc('downloader/exception_count')
    this.#stats.inc(`downloader/exception_type_count/${kind}`)
  }
}

// "HTTP/1.1 200 OK" and two line ends: what it takes on the wire but for the phrase.
const STATUS_LINE_BYTES = 19

function requestBytes(request: Request): number {
  // "GET /path HTTP/1.1" and two line ends.
  const line = request.method.length + request.url.length - request.url.indexOf('/', 8) + 14
  return line + (request.hasHeaders ? headerBytes(request.headers) : 0) + request.body.length
}

function headerBytes(headers: Iterable<[string, string]>): number {
  let bytes = 0
  for (const [name, value] of headers) bytes += name.length + value.length + 4
  return bytes
}
