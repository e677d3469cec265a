import {
  type Crawler,
  DownloadError,
  type DownloaderMiddleware,
  type Logger,
  type Request,
  RetryLater,
  type StatsCollector,
} from '@webloom/core'
import { numberOr } from '../retrying/next-try.ts'

export interface UnreadRequestsOptions {
  readonly stats: StatsCollector
  readonly logger: Logger
}

/** RFC 9110, 9.2.2: to do it twice is to do it once. */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])

/** What was closed so often is a failure like any other: the server may have read the request, and closes for that. */
const TIMES_MAX = 2

/**
 * Sends a request again that its server has most probably not read (`DownloadError.unread`), unless that may do something twice, as with
 * POST. It costs none of RETRY_TIMES, and is no failure of the host: so this stands nearer to the network than what counts those. As with
 * any retry the queue keeps the host's pace.
 */
export class UnreadRequestsMiddleware implements DownloaderMiddleware {
  readonly #options: UnreadRequestsOptions

  constructor(options: UnreadRequestsOptions) {
    this.#options = options
  }

  static fromCrawler({ stats, logger }: Crawler): UnreadRequestsMiddleware {
    return new this({ stats, logger })
  }

  processException(request: Request, error: unknown): RetryLater | undefined {
    if (!(error instanceof DownloadError && error.unread)) return undefined
    if (!IDEMPOTENT.has(request.method) || request.meta.dont_retry) return undefined
    const { meta } = request
    const times = numberOr(meta.unread_times, 0) + 1
    if (times > TIMES_MAX) return undefined
    const { stats, logger } = this.#options
    stats.inc('downloader/unread_count')
    logger.debug(
      { url: request.url, times },
      'sent again, as its connection was closed when it was used again',
    )
    // It was not tried, so it keeps its place.
    return new RetryLater(request.replace({ meta: { ...meta, unread_times: times } }), 'first')
  }
}
