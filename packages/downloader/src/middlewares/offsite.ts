import { domainToASCII } from 'node:url'
import {
  type Crawler,
  type DownloaderMiddleware,
  ENTRY_BYTES,
  hostNameOf,
  IgnoreRequest,
  type Logger,
  type Request,
  type SpiderLike,
  type StatsCollector,
  WebloomError,
} from '@webloom/core'

/**
 * Keeps the crawl to `allowedDomains` and their subdomains. Requests are checked before they are queued, and again on their
 * way out, as a redirect may lead elsewhere. `dontFilter` and `meta.allow_offsite` let a request pass.
 */
export class OffsiteMiddleware implements DownloaderMiddleware {
  readonly #spider: SpiderLike
  readonly #stats: StatsCollector
  readonly #logger: Logger
  readonly #domainsSeen = new Set<string>()
  #domainsSeenBytes = 0
  #given: unknown
  #givenLength = 0
  #allowed: readonly string[] = []

  /** Throws WL_SPIDER_LOAD when `allowedDomains` is not a list of strings. */
  constructor({ spider, stats, logger }: { spider: SpiderLike; stats: StatsCollector; logger: Logger }) {
    this.#spider = spider
    this.#stats = stats
    this.#logger = logger
    this.#hosts()
  }

  static fromCrawler(crawler: Crawler): OffsiteMiddleware {
    return new this(crawler)
  }

  /**
   * Returns `allowedDomains` as host names. They are read again when the list was replaced or has grown, as a spider may
   * add to it.
   */
  #hosts(): readonly string[] {
    const given: unknown = this.#spider.allowedDomains ?? []
    if (!Array.isArray(given) || given.some((domain) => typeof domain !== 'string')) {
      throw new WebloomError(
        'WL_SPIDER_LOAD',
        `allowedDomains of ${this.#spider.name} is ${JSON.stringify(given)}; expected a list of host names`,
      )
    }
    if (given !== this.#given || given.length !== this.#givenLength) {
      this.#given = given
      this.#givenLength = given.length
      this.#allowed = given.map((domain) => this.#hostName(domain))
    }
    return this.#allowed
  }

  #hostName(domain: string): string {
    const host = domain
      .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
      .replace(/[/?#].*$/, '')
      .replace(/:\d+$/, '')
    if (host !== domain) {
      this.#logger.warn(
        `allowedDomains has ${JSON.stringify(domain)}; it takes host names only, so ${JSON.stringify(host)} is meant`,
      )
    }
    return domainToASCII(host) || host.toLowerCase()
  }

  requestScheduled(request: Request): void {
    this.processRequest(request)
  }

  processRequest(request: Request): void {
    const domains = this.#hosts()
    if (domains.length === 0 || request.dontFilter) return
    if (request.hasMeta && request.meta.allow_offsite === true) return
    const host = hostNameOf(request.url)
    if (domains.some((domain) => isWithin(host, domain))) return
    this.#count(host)
    throw new IgnoreRequest(`${host} is outside allowedDomains (${domains.join(', ')})`)
  }

  #count(host: string): void {
    this.#stats.inc('offsite/filtered')
    if (this.#domainsSeen.has(host) || this.#domainsSeenBytes >= DOMAINS_SEEN_BYTES_MAX) return
    this.#domainsSeenBytes += ENTRY_BYTES + host.length
    this.#domainsSeen.add(host)
    this.#stats.inc('offsite/domains')
    this.#logger.debug({ host }, 'filtered offsite requests; further ones to this host are only counted')
  }
}

// A bound, as hosts come from pages and a hostile page could name any number: 100 000 of 40 characters. Further ones are
// counted as filtered only.
const DOMAINS_SEEN_BYTES_MAX = 16_777_216

function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`)
}
