import { STATUS_CODES } from 'node:http'
import {
  type Crawler,
  DownloadError,
  type DownloaderMiddleware,
  type Logger,
  logLevel,
  NotConfigured,
  type Request,
  type Response,
  RetryLater,
  type StatsCollector,
} from '@webloom/core'

export interface RetryMiddlewareOptions {
  /** Tries after the first. */
  readonly times: number
  readonly httpCodes: readonly number[]
  /** Kinds of `DownloadError` that are tried again. */
  readonly exceptions: readonly string[]
  readonly priorityAdjust: number
  readonly giveUpLogLevel: string
  readonly stats: StatsCollector
  readonly logger: Logger
}

// Twisted's phrases where they differ from Node's: they are part of Scrapy's stat names.
const PHRASES: Readonly<Record<number, string>> = {
  408: 'Request Time-out',
  504: 'Gateway Time-out',
  429: 'Unknown Status',
}

/**
 * Asks again after statuses and failures that may pass, by Scrapy's rules. When the tries are used up, a response is
 * handed on as it is and an error stands.
 *
 * Other than in Scrapy the request keeps its id and its `dontFilter`: the queue takes it back under its lease, so it
 * never meets the dupefilter, and a redirect that follows is still filtered.
 */
export class RetryMiddleware implements DownloaderMiddleware {
  readonly #options: RetryMiddlewareOptions
  readonly #httpCodes: ReadonlySet<number>

  constructor(options: RetryMiddlewareOptions) {
    this.#options = options
    this.#httpCodes = new Set(options.httpCodes)
  }

  static fromCrawler({ settings, stats, logger }: Crawler): RetryMiddleware {
    if (!settings.getBool('RETRY_ENABLED')) throw new NotConfigured('RETRY_ENABLED is false')
    return new RetryMiddleware({
      times: settings.getInt('RETRY_TIMES'),
      httpCodes: settings.getList('RETRY_HTTP_CODES').map(Number),
      // Scrapy's names are import paths; the last part is the kind.
      exceptions: settings.getList('RETRY_EXCEPTIONS').map((name) => String(name).split('.').at(-1)!),
      priorityAdjust: settings.getInt('RETRY_PRIORITY_ADJUST'),
      giveUpLogLevel: settings.getString('RETRY_GIVE_UP_LOG_LEVEL'),
      stats,
      logger,
    })
  }

  processResponse(request: Request, response: Response): Response | RetryLater {
    if (!this.#httpCodes.has(response.status) || request.meta.dont_retry === true) return response
    const phrase = PHRASES[response.status] ?? STATUS_CODES[response.status] ?? 'Unknown Status'
    return this.#again(request, `${response.status} ${phrase}`) ?? response
  }

  processException(request: Request, error: unknown): RetryLater | undefined {
    if (!(error instanceof DownloadError) || !this.#options.exceptions.includes(error.kind)) return undefined
    return request.meta.dont_retry === true ? undefined : this.#again(request, error.kind, error.message)
  }

  #again(request: Request, reason: string, detail?: string): RetryLater | undefined {
    const { times, priorityAdjust, giveUpLogLevel, stats, logger } = this.#options
    const { meta } = request
    const retryTimes = (typeof meta.retry_times === 'number' ? meta.retry_times : 0) + 1
    const most = typeof meta.max_retry_times === 'number' ? meta.max_retry_times : times
    if (retryTimes > most) {
      stats.inc('retry/max_reached')
      const level = logLevel(
        typeof meta.give_up_log_level === 'string' ? meta.give_up_log_level : giveUpLogLevel,
        'error',
      )
      logger[level](
        { url: request.url, times: retryTimes, reason, ...(detail && { detail }) },
        'gave up retrying',
      )
      return undefined
    }
    const adjust = typeof meta.priority_adjust === 'number' ? meta.priority_adjust : priorityAdjust
    stats.inc('retry/count')
    stats.inc(`retry/reason_count/${reason}`)
    logger.debug({ url: request.url, times: retryTimes, reason, ...(detail && { detail }) }, 'retrying')
    return new RetryLater(
      request.replace({ meta: { ...meta, retry_times: retryTimes }, priority: request.priority + adjust }),
    )
  }
}
