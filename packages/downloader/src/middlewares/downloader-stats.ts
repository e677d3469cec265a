import {
  type Crawler,
  DownloadError,
  type DownloaderMiddleware,
  type Headers,
  NotConfigured,
  type Request,
  type Response,
  type StatsCollector,
  WebloomError,
} from '@webloom/core'

/** Counts the requests that go to the network and the answers that come from it, under Scrapy's `downloader/*` keys. */
export class DownloaderStatsMiddleware implements DownloaderMiddleware {
  readonly #stats: StatsCollector
  readonly #methodKeys = new Keys<string>('downloader/request_method_count/')
  readonly #statusKeys = new Keys<number>('downloader/response_status_count/')

  constructor(stats: StatsCollector) {
    this.#stats = stats
  }

  static fromCrawler({ settings, stats }: Crawler): DownloaderStatsMiddleware {
    if (!settings.getBool('DOWNLOADER_STATS')) throw new NotConfigured('DOWNLOADER_STATS is false')
    return new this(stats)
  }

  processRequest(request: Request): void {
    this.#stats.inc('downloader/request_count')
    this.#stats.inc(this.#methodKeys.of(request.method))
    this.#stats.inc('downloader/request_bytes', requestBytes(request))
  }

  processResponse(_: Request, response: Response): Response {
    this.#stats.inc('downloader/response_count')
    this.#stats.inc(this.#statusKeys.of(response.status))
    this.#stats.inc(
      'downloader/response_bytes',
      response.body.length + headerBytes(response.headers) + STATUS_LINE_BYTES,
    )
    return response
  }

  processException(_: Request, error: unknown): void {
    // The crawl ends: nothing has failed.
    if (error instanceof WebloomError && error.code === 'WL_CLOSE_SPIDER') return
    const kind =
      error instanceof DownloadError ? error.kind : error instanceof Error ? error.name : typeof error
    this.#stats.inc('downloader/exception_count')
    this.#stats.inc(`downloader/exception_type_count/${kind}`)
  }
}

/** Stat keys that begin alike. They are kept, as a key that is put together anew for each page is looked up more slowly. */
class Keys<Part> {
  readonly #start: string
  readonly #keys = new Map<Part, string>()

  constructor(start: string) {
    this.#start = start
  }

  of(part: Part): string {
    const known = this.#keys.get(part)
    if (known !== undefined) return known
    const key = `${this.#start}${part}`
    if (this.#keys.size < KEYS_MAX) this.#keys.set(part, key)
    return key
  }
}

// A bound, as statuses come from servers.
const KEYS_MAX = 100

// "HTTP/1.1 200 OK" and two line ends, without the phrase: bytes on the wire.
const STATUS_LINE_BYTES = 19

function requestBytes(request: Request): number {
  // "GET /path HTTP/1.1" and two line ends.
  const line = request.method.length + request.url.length - request.url.indexOf('/', 8) + 14
  return line + (request.hasHeaders ? headerBytes(request.headers) : 0) + request.body.length
}

function headerBytes(headers: Headers): number {
  let bytes = 0
  headers.forEach((name, value) => {
    bytes += name.length + value.length + 4
  })
  return bytes
}
