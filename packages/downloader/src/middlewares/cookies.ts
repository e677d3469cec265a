import {
  type Crawler,
  type DownloaderMiddleware,
  type DownloadOptions,
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
  cookieOfRequest,
  cookiePlace,
  isSendable,
  type KeptCookie,
  type NamedCookie,
  namedCookies,
} from '../cookies/kept-cookie.ts'
import { MemoryCookieJarStore } from '../cookies/memory-cookie-jar-store.ts'
import { RedisCookieJarStore } from '../cookies/redis-cookie-jar-store.ts'
import { CONTROL_CHARACTER_REASON, RefusedCookies } from './cookie-header.ts'

export interface CookiesMiddlewareOptions {
  readonly jars: CookieJarStore
  /** Bytes of name and value together; a larger cookie is not kept. */
  readonly bytesMax: number
  /** How many cookies of one answer are kept; further ones are not. Default 100. */
  readonly perResponseMax?: number
  /** Logs each cookie that is sent or received. */
  readonly debug: boolean
  /** Returns how a request is fetched that is in the middlewares now. Absent in tests. */
  readonly optionsOf?: (request: Request) => DownloadOptions | undefined
  readonly stats: StatsCollector
  readonly logger: Logger
}

/**
 * Keeps the cookies that servers set and sends them back, as a browser would. `meta.cookiejar` chooses among several
 * sessions, and a request's `cookies` are put into its jar.
 *
 * A request's own Cookie header is sent as it is, and no cookies are added to it. A header that this middleware wrote is
 * removed when the answer has come: a retry or redirect copies the request's headers, and a later try must send what the
 * jar has by then.
 *
 * With `meta.dont_merge_cookies` no jar is read or written, and only the request's own `cookies` are sent.
 */
export class CookiesMiddleware implements DownloaderMiddleware {
  readonly #options: CookiesMiddlewareOptions
  readonly #written = new WeakSet<Request>()
  readonly #refused: RefusedCookies

  constructor(options: CookiesMiddlewareOptions) {
    this.#options = options
    this.#refused = new RefusedCookies(options)
  }

  static fromCrawler(crawler: Crawler): CookiesMiddleware {
    const { settings, stats, logger, downloader } = crawler
    if (!settings.getBool('COOKIES_ENABLED')) throw new NotConfigured('COOKIES_ENABLED is false')
    return new this({
      jars: settings.getBool('COOKIES_SHARED')
        ? RedisCookieJarStore.fromCrawler(crawler)
        : MemoryCookieJarStore.fromCrawler(crawler),
      bytesMax: settings.getInt('COOKIE_MAXSIZE'),
      perResponseMax: settings.getInt('COOKIES_PER_RESPONSE_MAX'),
      debug: settings.getBool('COOKIES_DEBUG'),
      ...(downloader && { optionsOf: (request) => downloader.optionsOf(request) }),
      stats,
      logger,
    })
  }

  processRequest(request: Request): void | Promise<void> {
    if (request.hasHeaders) this.#refused.cleanHeader(request)
    if (request.cookies === null && this.#options.jars.isEmpty) return
    const place = cookiePlace(request.url)
    if (!place) return
    const named = this.#named(request, place)
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
    const { jars, optionsOf } = this.#options
    const jar = jarOf(request)
    const { onceItCounts } = optionsOf?.(request) ?? {}
    const kept = onceItCounts ? onceItCounts(() => jars.keep(jar, cookies)) : jars.keep(jar, cookies)
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

  /**
   * Returns the cookies that the request names and may have. Those that it may not have are logged: their author wrote them
   * on purpose.
   */
  #named(request: Request, place: CookiePlace): KeptCookie[] {
    return namedCookies(request).flatMap((named) => {
      const cookie = cookieOfRequest(named, place)
      if (cookie && this.#isSmall(cookie)) return [cookie]
      this.#refuse(request, named, cookie)
      return []
    })
  }

  #refuse(request: Request, { name, value, domain }: NamedCookie, cookie: KeptCookie | null): void {
    const { bytesMax } = this.#options
    const reason = cookie
      ? `it is larger than COOKIE_MAXSIZE (${bytesMax} bytes)`
      : isSendable({ name, value: String(value) })
        ? `${request.url} may not set a cookie for ${JSON.stringify(domain)}`
        : CONTROL_CHARACTER_REASON
    this.#refused.tell(request, { name, reason, stat: cookie ? 'cookies/too_large' : 'cookies/refused' })
  }

  #isSmall({ name, value }: KeptCookie): boolean {
    return name.length + value.length <= this.#options.bytesMax
  }

  #firstOf(setCookies: readonly string[]): readonly string[] {
    const { perResponseMax = 100, stats } = this.#options
    if (setCookies.length <= perResponseMax) return setCookies
    stats.inc('cookies/too_many', setCookies.length - perResponseMax)
    return setCookies.slice(0, perResponseMax)
  }

  #accepted(setCookie: string, place: CookiePlace): KeptCookie | null {
    const { stats } = this.#options
    const cookie = cookieFromServer(setCookie, place)
    if (!cookie) stats.inc('cookies/refused')
    else if (this.#isSmall(cookie)) return cookie
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

/** Returns the jar's name. The sessions 1 and "1" are two, as in Scrapy. */
function jarOf(request: Request): string {
  return JSON.stringify(request.meta.cookiejar ?? null)
}
