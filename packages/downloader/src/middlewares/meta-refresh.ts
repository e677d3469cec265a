import { isAscii } from 'node:buffer'
import {
  baseUrlOf,
  type Crawler,
  type DownloaderMiddleware,
  type DownloadResult,
  HEAD_BYTES,
  InvalidUrl,
  NotConfigured,
  type Request,
  type Response,
  safeUrlString,
  urlJoin,
  urlRulesOf,
} from '@webloom/core'
import { metaRefresh, REFRESH_SEARCH_CHARS } from '../redirecting/meta-refresh.ts'
import { isFetchable, type RedirectRules, redirectRequest } from '../redirecting/redirect-request.ts'
import { redirectRulesOf } from '../redirecting/redirect-rules-of.ts'

export interface MetaRefreshMiddlewareOptions extends RedirectRules {
  /** A refresh inside one of these elements is not followed. */
  readonly ignoredTags: readonly string[]
  /** A refresh after so many seconds or more is not followed. */
  readonly delaySecondsMax: number
}

/** Follows `<meta http-equiv="refresh">` as if it were a redirect, by Scrapy's rules. */
export class MetaRefreshMiddleware implements DownloaderMiddleware {
  readonly #options: MetaRefreshMiddlewareOptions

  constructor(options: MetaRefreshMiddlewareOptions) {
    this.#options = options
  }

  static fromCrawler(crawler: Crawler): MetaRefreshMiddleware {
    const { settings } = crawler
    if (!settings.getBool('METAREFRESH_ENABLED')) throw new NotConfigured('METAREFRESH_ENABLED is false')
    return new this({
      ...redirectRulesOf(crawler),
      ignoredTags: settings.getList('METAREFRESH_IGNORE_TAGS').map(String),
      delaySecondsMax: settings.getFloat('METAREFRESH_MAXDELAY'),
    })
  }

  processResponse(request: Request, response: Response): DownloadResult {
    if (request.method === 'HEAD' || request.meta.dont_redirect || !mayRefresh(response)) return response
    const refresh = metaRefresh(response.text, this.#options.ignoredTags)
    if (!refresh || refresh.seconds >= this.#options.delaySecondsMax) return response
    const url = absoluteUrl(refresh.url, request, response)
    if (url === undefined) return response
    return redirectRequest(request, response, { url, reason: 'meta refresh', toGet: true }, this.#options)
  }
}

const HTML = /^\s*(?:text\/html|application\/(?:[\w.+-]+\.)?xhtml\+xml)\b/i

/** A cheap check: most pages have no such tag, and a response that is not HTML need not even be decoded. */
function mayRefresh(response: Response): boolean {
  const { headers, body } = response
  const contentType = headers.get('content-type')
  if (contentType !== null && !HTML.test(contentType)) return false
  if (hasRefreshOrZero(response.head)) return true
  if (body.length <= HEAD_BYTES || isAscii(body.subarray(0, HEAD_BYTES))) return false
  // A character takes four bytes at the most.
  const longest = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, REFRESH_SEARCH_CHARS * 4))
  return hasRefreshOrZero(longest.toString('latin1'))
}

/** Returns true for zeros, too: such a page may be UTF-16. */
function hasRefreshOrZero(bytes: string): boolean {
  return /refresh/i.test(bytes) || bytes.includes('\0')
}

function absoluteUrl(
  written: string,
  request: Request,
  { url, text, encoding }: Response,
): string | undefined {
  if (written === '') return undefined
  const rules = urlRulesOf(request)
  try {
    const absolute = urlJoin(
      baseUrlOf(text, url, encoding, rules),
      safeUrlString(written, { encoding, rules }),
    )
    return isFetchable(absolute) ? absolute : undefined
  } catch (error) {
    if (error instanceof InvalidUrl) return undefined
    throw error
  }
}
