import {
  Headers,
  IgnoreRequest,
  type JsonObject,
  type Logger,
  protectionStat,
  type ReferrerPolicy,
  type Request,
  type Response,
  referrerOf,
  referrerPolicyFor,
  type StatsCollector,
} from '@webloom/core'

/** How often a request may be redirected, and how its target is made. */
export interface RedirectRules {
  readonly timesMax: number
  readonly priorityAdjust: number
  /** A request that is redirected to a URL of more characters is dropped. Default 8192; 0: no bound. */
  readonly urlLengthMax?: number
  /** How much the target may know of the page that linked to the source. Absent: nothing. */
  readonly referrerPolicy?: ReferrerPolicy
  readonly stats: StatsCollector
  readonly logger: Logger
}

/** Where a response leads, and why. */
export interface RedirectTarget {
  readonly url: string
  /** The status, or `meta refresh`. */
  readonly reason: number | 'meta refresh'
  /** True: the target is requested with GET and no body. */
  readonly toGet: boolean
}

/** Returns false for `mailto:` and the like, and for a URL that names no server. */
export function isFetchable(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url)
}

const HEADERS_OF_A_BODY = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-location',
]

/**
 * Returns the request that takes the place of a redirected one. Throws `IgnoreRequest` after too many redirects and for too
 * long a target, and counts it.
 */
export function redirectRequest(
  request: Request,
  response: Response,
  { url, reason, toGet }: RedirectTarget,
  rules: RedirectRules,
): Request {
  const { timesMax, priorityAdjust, stats, logger } = rules
  const { meta } = request
  const ttl = numberOr(meta.redirect_ttl, timesMax)
  const times = numberOr(meta.redirect_times, 0) + 1
  meta.redirect_ttl = ttl
  if (ttl <= 0 || times > timesMax) {
    stats.inc('redirect/max_times_reached')
    logger.warn({ url: request.url, times, REDIRECT_MAX_TIMES: timesMax }, 'gave up following redirects')
    throw new IgnoreRequest(`${request}: redirected ${times} times; REDIRECT_MAX_TIMES is ${timesMax}`)
  }
  checkLength(request, url, rules)
  const redirectMeta: JsonObject = {
    ...meta,
    redirect_times: times,
    redirect_ttl: ttl - 1,
    redirect_urls: [...listOr(meta.redirect_urls), request.url],
    redirect_reasons: [...listOr(meta.redirect_reasons), reason],
  }
  logger.debug({ from: request.url, to: url, reason }, 'redirecting')
  return request.replace({
    url,
    meta: redirectMeta,
    headers: keptHeaders(request, response, url, toGet, rules.referrerPolicy),
    // The cookies are in the jar by now, which knows where they may go.
    cookies: null,
    priority: request.priority + priorityAdjust,
    ...(toGet && { method: 'GET', body: null }),
  })
}

// As long as the request line that common servers accept.
const URL_LENGTH_MAX = 8192

/** Bounds the target's length, as it is kept in the queue and in the `redirect_urls` of all requests that follow. */
function checkLength(request: Request, url: string, { urlLengthMax, stats, logger }: RedirectRules): void {
  const most = urlLengthMax ?? URL_LENGTH_MAX
  if (most === 0 || url.length <= most) return
  stats.inc(protectionStat('location_length'))
  logger.warn(
    { url: request.url, length: url.length, REDIRECT_MAX_URL_LENGTH: most },
    'redirected to a URL that is too long; the request is dropped',
  )
  throw new IgnoreRequest(
    `${request}: redirected to a URL of ${url.length} characters; REDIRECT_MAX_URL_LENGTH is ${most}`,
  )
}

/**
 * Returns the headers that the target may get: no cookies for another host or a less safe scheme, no credentials for
 * another origin.
 */
function keptHeaders(
  request: Request,
  response: Response,
  url: string,
  toGet: boolean,
  policy: ReferrerPolicy | undefined,
): Headers {
  const headers = new Headers(request.headers)
  const [source, target] = [new URL(request.url), new URL(url)]
  const sameScheme = source.protocol === target.protocol
  const sameHost = source.hostname === target.hostname
  if (!sameHost || !(sameScheme || target.protocol === 'https:')) headers.delete('cookie')
  if (source.origin !== target.origin) headers.delete('authorization')
  headers.delete('referer')
  const referrer = policy && shownReferrer(request, response, url, policy)
  if (referrer) headers.set('referer', referrer)
  if (toGet) for (const name of HEADERS_OF_A_BODY) headers.delete(name)
  return headers
}

/** As in browsers, the referrer is still the page that linked to the source, as far as the policy lets the target know it. */
function shownReferrer(
  request: Request,
  response: Response,
  url: string,
  policy: ReferrerPolicy,
): string | null {
  const linkedFrom = request.headers.get('referer')
  if (linkedFrom === null) return null
  return referrerOf(referrerPolicyFor(request, response, policy), linkedFrom, url)
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

function listOr<T>(value: T | T[] | undefined): T[] {
  return Array.isArray(value) ? value : []
}
