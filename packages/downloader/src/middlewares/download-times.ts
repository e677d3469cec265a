import {
  type Crawler,
  DOWNLOAD_TIMES,
  type DownloaderMiddleware,
  NotConfigured,
  type Request,
  type Response,
  TimeHistogram,
} from '@webloom/core'

/** Counts how long downloads take, for the metric `webloom_download_seconds`. Answers of the HTTP cache are not among them. */
export class DownloadTimesMiddleware implements DownloaderMiddleware {
  readonly #times: TimeHistogram
  readonly #begun = new WeakMap<Request, number>()

  constructor(times: TimeHistogram) {
    this.#times = times
  }

  static fromCrawler({ settings, stats }: Crawler): DownloadTimesMiddleware {
    if (!settings.getBool('METRICS_TIMES')) throw new NotConfigured('METRICS_TIMES is false')
    return new this(new TimeHistogram(DOWNLOAD_TIMES, stats))
  }

  processRequest(request: Request): void {
    this.#begun.set(request, performance.now())
  }

  processResponse(request: Request, response: Response): Response {
    const begun = this.#begun.get(request)
    if (begun !== undefined) this.#times.add(performance.now() - begun)
    return response
  }
}
