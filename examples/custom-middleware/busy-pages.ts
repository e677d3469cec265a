import type { Request } from 'webloom'
import {
  type Crawler,
  type DownloaderMiddleware,
  NotConfigured,
  type PlainResponse,
  RetryLater,
  type StatsCollector,
} from 'webloom/ports'

const TRIES_MAX = 5

/**
 * Notices a page that says "try again" with status 200, which RETRY_HTTP_CODES cannot see, and has it fetched again a
 * little later. The setting CUSTOM_BUSY_TEXT holds the words by which such a page is known.
 */
export class BusyPages implements DownloaderMiddleware {
  readonly #text: string
  readonly #stats: Pick<StatsCollector, 'inc'>
  readonly #waitMs: number

  /** Takes values, so that a test needs no crawl. */
  constructor(text: string, stats: Pick<StatsCollector, 'inc'>, waitMs = 500) {
    this.#text = text
    this.#stats = stats
    this.#waitMs = waitMs
  }

  /** Reads the settings. A middleware that has nothing to do throws `NotConfigured`, and is left out. */
  static fromCrawler({ settings, stats }: Crawler) {
    const text = settings.get('CUSTOM_BUSY_TEXT')
    if (typeof text !== 'string') throw new NotConfigured('CUSTOM_BUSY_TEXT is not set')
    return new BusyPages(text, stats)
  }

  processResponse(request: Request, response: PlainResponse) {
    if (!response.text.includes(this.#text)) return response
    // `meta` travels with the request, to another worker, too; a counter in this class would not.
    const tries = Number(request.meta.busy_tries ?? 0) + 1
    this.#stats.inc(tries > TRIES_MAX ? 'busy_pages/given_up' : 'busy_pages/again')
    if (tries > TRIES_MAX) return response
    // Not a new request but this one again: it keeps its place in the crawl, and the dupefilter is not asked.
    const again = request.replace({ meta: { ...request.meta, busy_tries: tries } })
    return new RetryLater(again, this.#waitMs)
  }
}
