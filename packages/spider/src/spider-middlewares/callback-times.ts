import {
  CALLBACK_TIMES,
  type Crawler,
  NotConfigured,
  type Response,
  type SpiderMiddleware,
  TimeHistogram,
} from '@webloom/core'

/** Counts how long callbacks take, for the metric `webloom_callback_seconds`. It is the nearest to the spider. */
export class CallbackTimesMiddleware implements SpiderMiddleware {
  readonly #times: TimeHistogram
  readonly #begun = new WeakMap<Response, number>()

  constructor(times: TimeHistogram) {
    this.#times = times
  }

  static fromCrawler({ settings, stats }: Crawler): CallbackTimesMiddleware {
    if (!settings.getBool('METRICS_TIMES')) throw new NotConfigured('METRICS_TIMES is false')
    return new this(new TimeHistogram(CALLBACK_TIMES, stats))
  }

  processSpiderInput(response: Response): void {
    this.#begun.set(response, performance.now())
  }

  /** Ends with what the callback yields, or when it throws. */
  async *processSpiderOutput(response: Response, output: AsyncIterable<unknown>): AsyncIterable<unknown> {
    try {
      yield* output
    } finally {
      const begun = this.#begun.get(response)
      if (begun !== undefined) this.#times.add(performance.now() - begun)
    }
  }
}
