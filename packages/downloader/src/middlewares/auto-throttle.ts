import {
  type Crawler,
  type DownloaderMiddleware,
  type Logger,
  NotConfigured,
  type Request,
  type Response,
  RetryLater,
} from '@webloom/core'
import { type HostOf, hostOfCrawler } from '../pace/host-of.ts'
import { nextDelay, type ThrottleRules } from '../pace/next-delay.ts'

export interface AutoThrottleOptions extends ThrottleRules {
  /** The delay of a host that has not answered yet, in seconds. */
  readonly startDelay: number
  readonly hostOf: HostOf
  /** Logs each answer and the delay that follows: AUTOTHROTTLE_DEBUG. */
  readonly logger?: Logger
}

/**
 * Asks each host as fast as it answers, by Scrapy's AutoThrottle. The delay is kept with the host, so all workers have the
 * same one. It is a floor: a random delay is never shorter, and a longer Crawl-delay counts instead.
 *
 * A host of which nothing is known yet gets the start delay before it is asked at all. The first request to it goes back to
 * the queue once; otherwise all requests that may be in flight would leave before the first answer.
 */
export class AutoThrottle implements DownloaderMiddleware {
  readonly #options: AutoThrottleOptions

  constructor(options: AutoThrottleOptions) {
    this.#options = options
  }

  static fromCrawler(crawler: Crawler): AutoThrottle {
    const { settings, signals, logger } = crawler
    if (!settings.getBool('AUTOTHROTTLE_ENABLED')) throw new NotConfigured('AUTOTHROTTLE_ENABLED is false')
    const minDelay = settings.getFloat('DOWNLOAD_DELAY')
    const throttle = new this({
      minDelay,
      maxDelay: settings.getFloat('AUTOTHROTTLE_MAX_DELAY'),
      startDelay: Math.max(minDelay, settings.getFloat('AUTOTHROTTLE_START_DELAY')),
      targetConcurrency: settings.getFloat('AUTOTHROTTLE_TARGET_CONCURRENCY'),
      hostOf: hostOfCrawler(crawler),
      ...(settings.getBool('AUTOTHROTTLE_DEBUG') && { logger }),
    })
    // Answers from the cache tell nothing about the host, and answers that are retried do. This signal is sent for the
    // latter only.
    signals.connect('responseDownloaded', ({ request, response }) => throttle.answered(request, response))
    return throttle
  }

  processRequest(request: Request): RetryLater | undefined {
    const { hostOf, startDelay } = this.#options
    const host = hostOf(request)
    if (!host?.host || host.host.delayMs > 0 || startDelay === 0) return undefined
    host.onHostNews?.({ delayMs: startDelay * 1000 })
    return new RetryLater(request, 'first')
  }

  /** Notes that the host has answered a request which was sent to it. */
  answered(request: Request, response: Response): void {
    const { hostOf, startDelay, logger } = this.#options
    const { download_latency: latency, autothrottle_dont_adjust_delay: isLeftOut } = request.meta
    if (typeof latency !== 'number' || isLeftOut) return
    const host = hostOf(request)
    const delayMs = host?.host?.delayMs || startDelay * 1000
    const next = nextDelay(delayMs / 1000, { latency, status: response.status }, this.#options)
    // A host without a delay would count as unknown.
    const nextMs = Math.max(1, Math.round(next * 1000))
    if (nextMs !== delayMs) host?.onHostNews?.({ delayMs: nextMs })
    logger?.info(
      { url: request.url, delayMs: nextMs, byMs: nextMs - delayMs, latency, bytes: response.body.length },
      'AutoThrottle',
    )
  }
}
