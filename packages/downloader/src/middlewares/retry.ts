import {
  type Crawler,
  DownloadError,
  type DownloaderMiddleware,
  NotConfigured,
  type Request,
  type Response,
  RetryLater,
} from '@webloom/core'
import { nextTry, type TryRules, tryWithHost } from '../retrying/next-try.ts'
import { statusPhrase } from '../retrying/status-phrase.ts'

export interface RetryMiddlewareOptions extends TryRules {
  readonly httpCodes: readonly number[]
  /** The kinds of `DownloadError` that are tried again, or Scrapy's and Twisted's names for them. */
  readonly exceptions: readonly string[]
  /** Milliseconds before the second try, doubled for each further one. 0 (default): no wait. */
  readonly backoffMs?: number
  readonly backoffMsMax?: number
  /**
   * Returns whether a request has failed through its host, which will pause. Then `timesWithHost` counts instead of
   * `times`.
   */
  readonly isHostToBlame?: (request: Request) => boolean
  /** How often a request may wait for its host. Default 0. */
  readonly timesWithHost?: number
  /** A number from 0 to 1, exclusive. Tests give their own. */
  readonly random?: () => number
}

// The names of exceptions in older settings of Scrapy, by the last part of the import path.
const KIND_OF_PYTHON_NAME: Readonly<Record<string, string>> = {
  TimeoutError: 'DownloadTimeoutError',
  TCPTimedOutError: 'DownloadTimeoutError',
  DNSLookupError: 'CannotResolveHostError',
  ConnectionRefusedError: 'DownloadConnectionRefusedError',
  ConnectionDone: 'DownloadFailedError',
  ConnectionLost: 'DownloadFailedError',
  ConnectError: 'DownloadFailedError',
  ResponseFailed: 'DownloadFailedError',
  TunnelError: 'DownloadFailedError',
  OSError: 'DownloadFailedError',
  IOError: 'DownloadFailedError',
}

/**
 * Tries again after statuses and failures that may pass, by Scrapy's rules. When the tries are used up, a response goes on
 * to the callback and an error to the errback.
 *
 * Other than in Scrapy a request waits first, twice as long each time, and by a random part of that, so that requests which
 * failed together do not come back together. A Retry-After makes the whole host wait. And the request keeps its id and its
 * `dontFilter`: the queue retries it under its lease, so it never meets the dupefilter, and a redirect that follows is
 * still filtered.
 */
export class RetryMiddleware implements DownloaderMiddleware {
  readonly #options: RetryMiddlewareOptions
  readonly #httpCodes: ReadonlySet<number>
  readonly #kinds: ReadonlySet<string>

  constructor(options: RetryMiddlewareOptions) {
    this.#options = options
    this.#httpCodes = new Set(options.httpCodes)
    this.#kinds = new Set(
      options.exceptions.map((path) => {
        const name = path.split('.').at(-1)!
        return KIND_OF_PYTHON_NAME[name] ?? name
      }),
    )
  }

  static fromCrawler({ settings, stats, logger, downloader }: Crawler): RetryMiddleware {
    if (!settings.getBool('RETRY_ENABLED')) throw new NotConfigured('RETRY_ENABLED is false')
    return new this({
      times: settings.getInt('RETRY_TIMES'),
      httpCodes: settings.getList('RETRY_HTTP_CODES').map(Number),
      exceptions: settings.getList('RETRY_EXCEPTIONS').map(String),
      priorityAdjust: settings.getInt('RETRY_PRIORITY_ADJUST'),
      giveUpLogLevel: settings.getString('RETRY_GIVE_UP_LOG_LEVEL'),
      backoffMs: settings.getMs('RETRY_BACKOFF'),
      backoffMsMax: settings.getMs('RETRY_BACKOFF_MAX'),
      isHostToBlame: (request) => downloader?.isHostToBlame(request) ?? false,
      timesWithHost: settings.getInt('HOST_RETRY_TIMES'),
      stats,
      logger,
    })
  }

  processResponse(request: Request, response: Response): Response | RetryLater {
    if (!this.#httpCodes.has(response.status) || request.meta.dont_retry) return response
    return this.#again(request, statusPhrase(response.status)) ?? response
  }

  processException(request: Request, error: unknown): RetryLater | undefined {
    if (!(error instanceof DownloadError) || !this.#kinds.has(error.kind)) return undefined
    return request.meta.dont_retry ? undefined : this.#again(request, error.kind, error.message)
  }

  #again(request: Request, reason: string, detail?: string): RetryLater | undefined {
    return this.#withHost(request, reason) ?? this.#counted(request, reason, detail)
  }

  #withHost(request: Request, reason: string): RetryLater | undefined {
    const { isHostToBlame, timesWithHost = 0 } = this.#options
    if (!isHostToBlame?.(request)) return undefined
    const again = tryWithHost(request, reason, { ...this.#options, times: timesWithHost })
    // The request waits for the host's pause. Its own wait only separates requests that failed together.
    return again ? new RetryLater(again, this.#backoff(1)) : undefined
  }

  #counted(request: Request, reason: string, detail?: string): RetryLater | undefined {
    const again = nextTry(request, reason, this.#options, detail)
    return again ? new RetryLater(again, this.#backoff(Number(again.meta.retry_times))) : undefined
  }

  /** Returns between half and all of a wait that doubles with each try, milliseconds. */
  #backoff(times: number): number {
    const { backoffMs = 0, backoffMsMax = Number.POSITIVE_INFINITY, random = Math.random } = this.#options
    const whole = Math.min(backoffMs * 2 ** (times - 1), backoffMsMax)
    return Math.round(whole * (0.5 + random() / 2))
  }
}
