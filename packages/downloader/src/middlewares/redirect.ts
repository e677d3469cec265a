import { isUtf8 } from 'node:buffer'
import {
  type Crawler,
  type DownloaderMiddleware,
  type DownloadResult,
  Headers,
  IgnoreRequest,
  type JsonObject,
  type Logger,
  NotConfigured,
  type Request,
  type Response,
  type SpiderLike,
  type StatsCollector,
  safeUrlString,
  urlJoin,
} from '@webloom/core'

const STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const HEADERS_OF_A_BODY = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-location',
]

export interface RedirectMiddlewareOptions {
  readonly timesMax: number
  readonly priorityAdjust: number
  readonly spider: SpiderLike
  readonly stats: StatsCollector
  readonly logger: Logger
}

/**
 * Follows Location headers by the rules of Scrapy 2.15 and later. The target is a new request: it goes through the
 * dupefilter and its own host's pace like any other.
 */
export class RedirectMiddleware implements DownloaderMiddleware {
  readonly #options: RedirectMiddlewareOptions

  constructor(options: RedirectMiddlewareOptions) {
    this.#options = options
  }

  static fromCrawler({ settings, spider, stats, logger }: Crawler): RedirectMiddleware {
    if (!settings.getBool('REDIRECT_ENABLED')) throw new NotConfigured('REDIRECT_ENABLED is false')
    return new RedirectMiddleware({
      timesMax: settings.getInt('REDIRECT_MAX_TIMES'),
      priorityAdjust: settings.getInt('REDIRECT_PRIORITY_ADJUST'),
      spider,
      stats,
      logger,
    })
  }

  processResponse(request: Request, response: Response): DownloadResult {
    if (!STATUSES.has(response.status)) return response
    const location = response.headers.get('location')
    if (location === null || this.#leftToCallback(request, response.status)) return response
    const url = targetUrl(request.url, location)
    // mailto:, app links and the like: the callback may know what to do with the answer.
    if (!/^https?:\/\//i.test(url)) return response
    return this.#redirected(request, url, response.status)
  }

  #leftToCallback(request: Request, status: number): boolean {
    const { meta } = request
    if (meta.dont_redirect === true || meta.handle_httpstatus_all === true) return true
    const wanted = Array.isArray(meta.handle_httpstatus_list)
      ? meta.handle_httpstatus_list
      : this.#options.spider.handleHttpstatusList
    return wanted?.includes(status) ?? false
  }

  #redirected(request: Request, url: string, status: number): Request {
    const { timesMax, priorityAdjust, stats, logger } = this.#options
    const { meta } = request
    const ttl = numberOr(meta.redirect_ttl, timesMax)
    const times = numberOr(meta.redirect_times, 0) + 1
    meta.redirect_ttl = ttl
    if (ttl <= 0 || times > timesMax) {
      stats.inc('redirect/max_times_reached')
      logger.warn({ url: request.url, times, REDIRECT_MAX_TIMES: timesMax }, 'gave up following redirects')
      throw new IgnoreRequest(`${request}: redirected ${times} times; REDIRECT_MAX_TIMES is ${timesMax}`)
    }
    const toGet = becomesGet(request.method, status)
    const redirectMeta: JsonObject = {
      ...meta,
      redirect_times: times,
      redirect_ttl: ttl - 1,
      redirect_urls: [...listOr(meta.redirect_urls), request.url],
      redirect_reasons: [...listOr(meta.redirect_reasons), status],
    }
    logger.debug({ from: request.url, to: url, status }, 'redirecting')
    return request.replace({
      url,
      meta: redirectMeta,
      headers: keptHeaders(request, url, toGet),
      // They stand in the Cookie header, which `keptHeaders` judges.
      cookies: null,
      priority: request.priority + priorityAdjust,
      ...(toGet && { method: 'GET', body: null }),
    })
  }
}

/** The Location made absolute; the fragment of the source goes along unless the target has its own (RFC 9110 §10.2.2). */
function targetUrl(source: string, location: string): string {
  const safe = safeUrlString(asWritten(location))
  const scheme = source.slice(0, source.indexOf(':'))
  const url = urlJoin(source, safe.startsWith('//') ? `${scheme}://${safe.replace(/^\/+/, '')}` : safe)
  const hash = source.indexOf('#')
  return url.includes('#') || hash < 0 ? url : url + source.slice(hash)
}

/** Header values arrive byte by byte; a Location that is not plain ASCII is UTF-8 wherever that makes sense. */
function asWritten(location: string): string {
  const bytes = Buffer.from(location, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : location
}

function becomesGet(method: string, status: number): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD'
  return method === 'POST' && (status === 301 || status === 302)
}

/** What may be told to the target: no cookies to another host or a less safe scheme, no credentials to another origin. */
function keptHeaders(request: Request, url: string, toGet: boolean): Headers {
  const headers = new Headers(request.headers)
  const [source, target] = [new URL(request.url), new URL(url)]
  const sameScheme = source.protocol === target.protocol
  const sameHost = source.hostname === target.hostname
  if (!sameHost || !(sameScheme || target.protocol === 'https:')) headers.delete('cookie')
  if (source.origin !== target.origin) headers.delete('authorization')
  // It named the page that linked to the source; what it is for the target is the referer policy's business.
  headers.delete('referer')
  if (toGet) for (const name of HEADERS_OF_A_BODY) headers.delete(name)
  return headers
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

function listOr<T>(value: T | T[] | undefined): T[] {
  return Array.isArray(value) ? value : []
}
