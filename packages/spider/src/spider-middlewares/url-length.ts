import {
  type Crawler,
  type Logger,
  NotConfigured,
  type Request,
  type Response,
  type SpiderMiddleware,
  type StatsCollector,
} from '@webloom/core'

/**
 * Drops requests whose URL is longer than URLLENGTH_LIMIT, as such URLs come from loops on the site. As in Scrapy this
 * holds for requests of `start()` and for seeds, too. Their authors chose those, so they are told of it.
 */
export class UrlLengthMiddleware implements SpiderMiddleware {
  readonly #charactersMax: number
  readonly #stats: StatsCollector
  readonly #logger: Logger

  constructor({
    charactersMax,
    stats,
    logger,
  }: { charactersMax: number; stats: StatsCollector; logger: Logger }) {
    this.#charactersMax = charactersMax
    this.#stats = stats
    this.#logger = logger
  }

  static fromCrawler({ settings, stats, logger }: Crawler): UrlLengthMiddleware {
    const charactersMax = settings.getInt('URLLENGTH_LIMIT')
    if (charactersMax === 0) throw new NotConfigured('URLLENGTH_LIMIT is 0')
    return new this({ charactersMax, stats, logger })
  }

  processSpiderRequest(request: Request, response: Response | null): Request | null {
    if (request.url.length <= this.#charactersMax) return request
    this.#stats.inc('urllength/request_ignored_count')
    const level = response === null ? 'warn' : 'debug'
    this.#logger[level](
      {
        url: `${request.url.slice(0, 200)}…`,
        characters: request.url.length,
        URLLENGTH_LIMIT: this.#charactersMax,
      },
      response === null
        ? 'a start URL or seed is too long and not crawled; a higher URLLENGTH_LIMIT lets it in'
        : 'URL too long',
    )
    return null
  }
}
