import type { Crawler, Logger, Request, Response, SpiderMiddleware, StatsCollector } from '@webloom/core'

export interface DepthMiddlewareOptions {
  /** Deeper requests are dropped. 0: no limit. */
  readonly depthMax: number
  /** Subtracted from a request's priority for each step down: above 0 the crawl goes breadth first. */
  readonly priorityStep: number
  readonly countEachDepth: boolean
  readonly stats: StatsCollector
  readonly logger: Logger
}

/** Counts in `meta.depth` how far each page is from a start request. */
export class DepthMiddleware implements SpiderMiddleware {
  readonly #options: DepthMiddlewareOptions
  #deepest = 0

  constructor(options: DepthMiddlewareOptions) {
    this.#options = options
  }

  static fromCrawler({ settings, stats, logger }: Crawler): DepthMiddleware {
    return new this({
      depthMax: settings.getInt('DEPTH_LIMIT'),
      priorityStep: settings.getInt('DEPTH_PRIORITY'),
      countEachDepth: settings.getBool('DEPTH_STATS_VERBOSE'),
      stats,
      logger,
    })
  }

  processSpiderInput(response: Response): void {
    // A start request has no depth yet; it is counted here, as no page yielded it.
    if (!response.hasRequest || response.meta.depth !== undefined) return
    response.meta.depth = 0
    if (this.#options.countEachDepth) this.#options.stats.inc('request_depth_count/0')
  }

  processSpiderRequest(request: Request, response: Response | null): Request | null {
    if (response === null) return request
    const { depthMax, priorityStep, countEachDepth, stats, logger } = this.#options
    const parentDepth = response.meta.depth
    const reset = request.hasMeta && request.meta.depth_reset === true
    const depth = reset ? 0 : (typeof parentDepth === 'number' ? parentDepth : 0) + 1
    if (depthMax > 0 && depth > depthMax) {
      stats.inc('depth/request_ignored_count')
      logger.debug({ url: request.url, depth, DEPTH_LIMIT: depthMax }, 'too deep')
      return null
    }
    request.meta.depth = depth
    if (priorityStep !== 0) request.priority -= depth * priorityStep
    if (countEachDepth) stats.inc(`request_depth_count/${depth}`)
    if (depth > this.#deepest) {
      this.#deepest = depth
      stats.max('request_depth_max', depth)
    }
    return request
  }
}
