import {
  type Crawler,
  type DownloaderMiddleware,
  type DownloadResult,
  InvalidUrl,
  NotConfigured,
  type Request,
  type Response,
  type SpiderLike,
  safeUrlString,
  urlJoin,
  urlRulesOf,
} from '@webloom/core'
import { asWritten } from '../http/wire-text.ts'
import { isFetchable, type RedirectRules, redirectRequest } from '../redirecting/redirect-request.ts'
import { redirectRulesOf } from '../redirecting/redirect-rules-of.ts'

const SHOWN_LOCATION_CHARS = 200

const STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export interface RedirectMiddlewareOptions extends RedirectRules {
  readonly spider: SpiderLike
}

/**
 * Follows Location headers by the rules of Scrapy 2.15 and later. The target is a new request: it passes the dupefilter and
 * waits for its own host like any other.
 */
export class RedirectMiddleware implements DownloaderMiddleware {
  readonly #options: RedirectMiddlewareOptions

  constructor(options: RedirectMiddlewareOptions) {
    this.#options = options
  }

  static fromCrawler(crawler: Crawler): RedirectMiddleware {
    if (!crawler.settings.getBool('REDIRECT_ENABLED')) throw new NotConfigured('REDIRECT_ENABLED is false')
    return new this({ ...redirectRulesOf(crawler), spider: crawler.spider })
  }

  processResponse(request: Request, response: Response): DownloadResult {
    const { status } = response
    if (!STATUSES.has(status)) return response
    const location = response.headers.get('location')
    if (location === null || this.#leftToCallback(request, status)) return response
    const url = targetUrl(request, location)
    // The target is mailto:, an app link or broken. The callback may know what to do with the answer.
    if (url === undefined || !isFetchable(url)) return this.#notFollowed(request, response, location)
    const toGet = becomesGet(request.method, status)
    return redirectRequest(request, response, { url, reason: status, toGet }, this.#options)
  }

  #notFollowed(request: Request, response: Response, location: string): Response {
    const { stats, logger } = this.#options
    stats.inc('redirect/not_followed')
    logger.debug(
      { url: request.url, location: location.slice(0, SHOWN_LOCATION_CHARS) },
      'a redirect to what is no http or https URL is not followed; the callback may handle its response (handle_httpstatus_list)',
    )
    return response
  }

  #leftToCallback(request: Request, status: number): boolean {
    const { meta } = request
    if (meta.dont_redirect || meta.handle_httpstatus_all) return true
    const { handleHttpstatusList } = this.#options.spider
    const asked = Array.isArray(meta.handle_httpstatus_list) ? meta.handle_httpstatus_list : []
    return asked.includes(status) || (handleHttpstatusList?.includes(status) ?? false)
  }
}

/** Returns undefined when the Location is not a URL. */
function targetUrl(source: Request, location: string): string | undefined {
  try {
    const safe = safeUrlString(asWritten(location), { rules: urlRulesOf(source) })
    return absoluteUrl(source.url, safe)
  } catch (error) {
    if (error instanceof InvalidUrl) return undefined
    throw error
  }
}

/** Returns the Location made absolute. The source's fragment is kept unless the target has its own (RFC 9110 §10.2.2). */
function absoluteUrl(source: string, safe: string): string {
  const scheme = source.slice(0, source.indexOf(':'))
  const url = urlJoin(source, safe.startsWith('//') ? `${scheme}://${safe.replace(/^\/+/, '')}` : safe)
  const hash = source.indexOf('#')
  return url.includes('#') || hash < 0 ? url : url + source.slice(hash)
}

function becomesGet(method: string, status: number): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD'
  return method === 'POST' && (status === 301 || status === 302)
}
