import {
  type Crawler,
  type DownloaderMiddleware,
  type Logger,
  NotConfigured,
  type Request,
  type Response,
  type StatsCollector,
} from '@webloom/core'
import type { CookieJarStore } from '../cookies/cookie-jar-store.ts'
import {
  type CookiePlace,
  cookieDomains,
  cookieFromServer,
  cookieHeader,
  cookiePlace,
  cookiesOfRequest,
  type KeptCookie,
} from '../cookies/kept-cookie.ts'
import { MemoryCookieJarStore } from '../cookies/memory-cookie-jar-store.ts'

export interface CookiesMiddlewareOptions {
  readonly jars: CookieJarStore
  /** A larger cookie, name and value together, is not kept. */
  readonly bytesMax: number
  /** What one answer sets beyond these is not kept. Default 100. */
  readonly perResponseMax?: number
  /** Logs each cookie that is sent or received. */
  readonly debug: boolean
  readonly stats: StatsCollector
  readonly logger: Logger
}

/**
 * Keeps the cookies that servers set and sends them back, as a browser would; `meta.cookiejar` chooses among several
 * sessions, and a request's `cookies` are put into its jar.
 *
 * A Cookie header of the request's own is sent as it is, and nothing beside it. One that was written here is taken off
 * again once the answer is there: a retry or redirect copies the request's headers, and a later attempt must send what
 * the jar has by then.
 *
 * With `meta.dont_merge_cookies` no jar is asked or told, and only the request's own `cookies` are sent.
 */
export class CookiesMiddleware implements DownloaderMiddleware {
  readonly #options: CookiesMiddlewareOptions
  readonly #written = new WeakSet<Request>()

  constructor(options: CookiesMiddlewareOptions) {
    this.#options = options
  }

  /** @param jars those of this process when absent */
  static fromCrawler(crawler: Crawler, jars?: CookieJarStore): CookiesMiddleware {
    const { settings, stats, logger } = crawler
    if (!settings.getBool('COOKIES_ENABLED')) throw new NotConfigured('COOKIES_ENABLED is false')
    return new CookiesMiddleware({
      jars: jars ?? MemoryCookieJarStore.fromCrawler(crawler),
      bytesMax: settings.getInt('COOKIE_MAXSIZE'),
      perResponseMax: settings.getInt('COOKIES_PER_RESPONSE_MAX'),
      debug: settings.getBool('COOKIES_DEBUG'),
      stats,
      logger,
    })
  }

  processRequest(request: Request): void | Promise<void> {
    if (request.cookies === null && this.#options.jars.isEmpty) return
    const place = cookiePlace(request.url)
    if (!place) return
    const named = request.cookies === null ? [] : cookiesOfRequest(request, place)
    if (!mergesCookies(request)) {
      this.#write(request, cookieHeader(named, place))
      return
    }
    const { jars } = this.#options
    const jar = jarOf(request)
    const kept = named.length > 0 ? jars.keep(jar, named) : undefined
    if (request.headers.has('cookie')) return kept
    if (kept) return kept.then(() => this.#send(request, jar, place))
    return this.#send(request, jar, place)
  }

  processResponse(request: Request, response: Response): Response | Promise<Response> {
    this.#takeOff(request)
    const setCookies = this.#firstOf(response.headers.getAll('set-cookie'))
    if (setCookies.length === 0 || !mergesCookies(request)) return response
    const place = cookiePlace(response.url)
    if (!place) return response
    this.#debug('received cookies', response.url, setCookies)
    const cookies = setCookies.map((text) => this.#accepted(text, place)).filter((cookie) => cookie !== null)
    const kept = this.#options.jars.keep(jarOf(request), cookies)
    return kept ? kept.then(() => response) : response
  }

  processException(request: Request): void {
    this.#takeOff(request)
  }

  #send(request: Request, jar: string, place: CookiePlace): void | Promise<void> {
    const found = this.#options.jars.cookies(jar, cookieDomains(place))
    if (found instanceof Promise) {
      return found.then((cookies) => this.#writeForNow(request, cookies, place))
    }
    this.#writeForNow(request, found, place)
  }

  #writeForNow(request: Request, cookies: readonly KeptCookie[], place: CookiePlace): void {
    if (this.#write(request, cookieHeader(cookies, place))) this.#written.add(request)
  }

  #write(request: Request, header: string): boolean {
    if (header === '' || request.headers.has('cookie')) return false
    request.headers.set('cookie', header)
    this.#debug('sending cookies', request.url, [header])
    return true
  }

  #takeOff(request: Request): void {
    if (this.#written.delete(request)) request.headers.delete('cookie')
  }

  #firstOf(setCookies: readonly string[]): readonly string[] {
    const { perResponseMax = 100, stats } = this.#options
    if (setCookies.length <= perResponseMax) return setCookies
    stats.inc('cookies/too_many', setCookies.length - perResponseMax)
    return setCookies.slice(0, perResponseMax)
  }

  #accepted(setCookie: string, place: CookiePlace): KeptCookie | null {
    const { bytesMax, stats } = this.#options
    const cookie = cookieFromServer(setCookie, place)
    if (!cookie) stats.inc('cookies/refused')
    else if (cookie.name.length + cookie.value.length <= bytesMax) return cookie
    else stats.inc('cookies/too_large')
    return null
  }

  #debug(what: string, url: string, cookies: readonly string[]): void {
    if (this.#options.debug) this.#options.logger.debug({ url, cookies }, what)
  }
}

function mergesCookies(request: Request): boolean {
  return !request.hasMeta || !request.meta.dont_merge_cookies
}

/** Sessions 1 and "1" are two, as in Scrapy. */
function jarOf(request: Request): string {
  return JSON.stringify(request.meta.cookiejar ?? null)
}
