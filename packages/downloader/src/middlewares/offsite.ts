import {
  type Crawler,
  type DownloaderMiddleware,
  IgnoreRequest,
  type Logger,
  type Request,
  type SpiderLike,
  type StatsCollector,
} from '@webloom/core'

/**
 * Keeps the crawl to `allowedDomains` and their subdomains: before a request is queued, and again on its way out,
 * as a redirect may lead elsewhere. `dontFilter` and `meta.allow_offsite` let a request pass.
 */
export class OffsiteMiddleware implements DownloaderMiddleware {
  readonly #spider: SpiderLike
  readonly #stats: StatsCollector
  readonly #logger: Logger
  readonly #domainsSeen = new Set<string>()

  constructor({ spider, stats, logger }: { spider: SpiderLike; stats: StatsCollector; logger: Logger }) {
    this.#spider = spider
    this.#stats = stats
    this.#logger = logger
  }

  static fromCrawler(crawler: Crawler): OffsiteMiddleware {
    return new OffsiteMiddleware(crawler)
  }

  requestScheduled(request: Request): void {
    this.processRequest(request)
  }

  processRequest(request: Request): void {
    // Read anew each time: a spider may add domains while it runs.
    const domains = this.#spider.allowedDomains
    if (!domains || domains.length === 0 || request.dontFilter) return
    if (request.hasMeta && request.meta.allow_offsite === true) return
    const host = hostOf(request.url)
    if (domains.some((domain) => isWithin(host, domain.toLowerCase()))) return
    this.#count(host)
    throw new IgnoreRequest(`${host} is outside allowedDomains (${domains.join(', ')})`)
  }

  #count(host: string): void {
    this.#stats.inc('offsite/filtered')
    if (this.#domainsSeen.has(host) || this.#domainsSeen.size >= DOMAINS_SEEN_MAX) return
    this.#domainsSeen.add(host)
    this.#stats.inc('offsite/domains')
    this.#logger.debug({ host }, 'filtered offsite requests; further ones to this host are only counted')
  }
}

// Hosts come from pages; a hostile page could name any number.
const DOMAINS_SEEN_MAX = 100_000

function hostOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed ? parsed.hostname : ''
}

function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`)
}
