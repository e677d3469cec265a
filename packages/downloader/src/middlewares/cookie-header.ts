import {
  type Crawler,
  type DownloaderMiddleware,
  type Logger,
  NotConfigured,
  type Request,
  type StatsCollector,
} from '@webloom/core'
import { isSendableText } from '../cookies/kept-cookie.ts'

/** Further refusals are only counted: each request of a spider may name the same cookie. */
const REFUSALS_TOLD_MAX = 10
const NAME_SHOWN_MAX = 100
export const CONTROL_CHARACTER_REASON =
  'it holds a control character, such as a line break, and could not be sent'

/** Logs and counts cookies that are not sent, as their author wrote them on purpose. */
export class RefusedCookies {
  readonly #stats: StatsCollector
  readonly #logger: Logger
  #told = 0

  constructor({ stats, logger }: { stats: StatsCollector; logger: Logger }) {
    this.#stats = stats
    this.#logger = logger
  }

  tell(
    request: Request,
    { name, reason, stat = 'cookies/refused' }: { name: string; reason: string; stat?: string },
  ): void {
    this.#stats.inc(stat)
    if (this.#told++ >= REFUSALS_TOLD_MAX) return
    const cut = name.slice(0, NAME_SHOWN_MAX)
    this.#logger.warn({ url: request.url, cookie: cut, reason }, 'a cookie of the request is left out')
  }

  /** Removes from a request's own Cookie header what could not be sent: it would fail the request. */
  cleanHeader(request: Request): void {
    const written = request.headers.getAll('cookie')
    if (written.every(isSendableText)) return
    const pairs = written.flatMap((header) => header.split(';')).map((pair) => pair.trim())
    for (const pair of pairs) {
      if (isSendableText(pair)) continue
      const [name = ''] = pair.split('=')
      this.tell(request, { name, reason: CONTROL_CHARACTER_REASON })
    }
    const rest = pairs.filter((pair) => pair !== '' && isSendableText(pair)).join('; ')
    if (rest === '') request.headers.delete('cookie')
    else request.headers.set('cookie', rest)
  }
}

/** Cleans Cookie headers where COOKIES_ENABLED is false; otherwise `CookiesMiddleware` does. */
export class CookieHeaderMiddleware implements DownloaderMiddleware {
  readonly #refused: RefusedCookies

  constructor(parts: { stats: StatsCollector; logger: Logger }) {
    this.#refused = new RefusedCookies(parts)
  }

  static fromCrawler({ settings, stats, logger }: Crawler): CookieHeaderMiddleware {
    if (settings.getBool('COOKIES_ENABLED')) throw new NotConfigured('COOKIES_ENABLED is true')
    return new this({ stats, logger })
  }

  processRequest(request: Request): void {
    if (request.hasHeaders) this.#refused.cleanHeader(request)
  }
}
