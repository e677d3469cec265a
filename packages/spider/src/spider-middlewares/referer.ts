import {
  type Crawler,
  checkHeader,
  NotConfigured,
  type ReferrerPolicy,
  type Request,
  type Response,
  referrerOf,
  referrerPolicyFor,
  type SpiderMiddleware,
} from '@webloom/core'

/**
 * Tells each request's site which page led to it, as far as the policy allows: that of `meta.referrer_policy`, else of the
 * page's own Referrer-Policy header, else REFERRER_POLICY. A request's own Referer stays.
 */
export class RefererMiddleware implements SpiderMiddleware {
  readonly #policy: ReferrerPolicy
  /** The referrer that was checked last. */
  #checked: string | undefined
  /** The page whose links pass now, and its own policy. */
  #page: { readonly response: Response; readonly policy: ReferrerPolicy } | undefined

  constructor(policy: ReferrerPolicy = 'scrapy-default') {
    this.#policy = policy
  }

  static fromCrawler({ settings }: Crawler): RefererMiddleware {
    if (!settings.getBool('REFERER_ENABLED')) throw new NotConfigured('REFERER_ENABLED is false')
    return new this(settings.get('REFERRER_POLICY'))
  }

  processSpiderRequest(request: Request, response: Response | null): Request {
    if (response === null || (request.hasHeaders && request.headers.has('referer'))) return request
    const referrer = referrerOf(this.#policyFor(request, response), response.url, request.url)
    if (referrer === null) return request
    // All links of a page have the same referrer.
    if (referrer !== this.#checked) checkHeader('referer', referrer)
    this.#checked = referrer
    request.setReferer(referrer)
    return request
  }

  #policyFor(request: Request, response: Response): ReferrerPolicy {
    if (request.hasMeta && request.meta.referrer_policy !== undefined)
      return referrerPolicyFor(request, response, this.#policy)
    if (this.#page?.response !== response)
      this.#page = { response, policy: referrerPolicyFor(request, response, this.#policy) }
    return this.#page.policy
  }
}
