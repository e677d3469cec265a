import {
  type Crawler,
  IgnoreRequest,
  type Response,
  type SpiderLike,
  type SpiderMiddleware,
  type StatsCollector,
} from '@webloom/core'

/** The failure of a response whose status the callback did not ask for. Errbacks get it, with the response. */
export class HttpError extends IgnoreRequest {
  /** The response with that status. */
  readonly response: Response

  constructor(response: Response) {
    super(
      `${response} is kept from the callback: status ${response.status} is neither 2xx nor in handleHttpstatusList, HTTPERROR_ALLOWED_CODES or meta.handle_httpstatus_list`,
      'WL_HTTP_ERROR',
    )
    this.response = response
  }
}

export interface HttpErrorMiddlewareOptions {
  readonly allowAll: boolean
  readonly allowedCodes: readonly number[]
  readonly spider: SpiderLike
  readonly stats: StatsCollector
}

/** Keeps responses without success from callbacks that did not ask for them. */
export class HttpErrorMiddleware implements SpiderMiddleware {
  readonly #options: HttpErrorMiddlewareOptions

  constructor(options: HttpErrorMiddlewareOptions) {
    this.#options = options
  }

  static fromCrawler({ settings, spider, stats }: Crawler): HttpErrorMiddleware {
    return new this({
      allowAll: settings.getBool('HTTPERROR_ALLOW_ALL'),
      allowedCodes: settings.getList('HTTPERROR_ALLOWED_CODES').map(Number),
      spider,
      stats,
    })
  }

  processSpiderInput(response: Response): void {
    const { status } = response
    if (status >= 200 && status < 300) return
    if (this.#wanted(response)) return
    this.#options.stats.inc('httperror/response_ignored_count')
    this.#options.stats.inc(`httperror/response_ignored_status_count/${status}`)
    throw new HttpError(response)
  }

  // The most specific wins: the request's meta, then the spider, then the settings.
  #wanted({ status, meta }: Response): boolean {
    if (meta.handle_httpstatus_all === true) return true
    if (Array.isArray(meta.handle_httpstatus_list)) return meta.handle_httpstatus_list.includes(status)
    const { allowAll, allowedCodes, spider } = this.#options
    return allowAll || (spider.handleHttpstatusList ?? allowedCodes).includes(status)
  }
}
