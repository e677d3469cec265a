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
  /** The delay of a host that has not answered yet, seconds. */
  readonly startDelay: number
  readonly hostOf: HostOf
  /** Told of each answer: AUTOTHROTTLE_DEBUG. */
  readonly logger?: Logger
}

/**
 * Asks each host as fast as it answers, by Scrapy's AutoThrottle. The delay is kept with the host, so that all workers
 * have the same. It is a floor: chance does not go below it, and a longer Crawl-delay counts instead.
 *
 * A host of which nothing is known yet is given the start delay before it is asked at all: the request that meets it goes
 * back once, as otherwise all that may be in flight would leave before the first answer.
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
    // Answers from the cache say nothing of the host, and those that are tried again do: the signal comes before both.
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

  /** The host has answered a request that was sent to it. */
  answered(request: Request, response: Response): void {
    const { hostOf, startDelay, logger } = this.#options
    const { download_latency: latency, autothrottle_dont_adjust_delay: isLeftOut } = request.meta
    if (typeof latency !== 'number' || isLeftOut) return
    const host = hostOf(request)
    const delayMs = host?.host?.delayMs || startDelay * 1000
    const next = nextDelay(delayMs / 1000, { latency, status: response.status }, this.#options)
    // Of a host without a delay nothing is known.
    const nextMs = Math.max(1, Math.round(next * 1000))
    if (nextMs !== delayMs) host?.onHostNews?.({ delayMs: nextMs })
    logger?.info(
      { url: request.url, delayMs: nextMs, byMs: nextMs - delayMs, latency, bytes: response.body.length },
      'AutoThrottle',
    )
  }
}
