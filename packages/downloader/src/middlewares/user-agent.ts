import { type Crawler, type DownloaderMiddleware, NotConfigured, type Request } from '@webloom/core'

/** Adds USER_AGENT, or the spider's own `userAgent`, to each request that sets none itself. */
export class UserAgentMiddleware implements DownloaderMiddleware {
  readonly #userAgent: string

  constructor(userAgent: string) {
    this.#userAgent = userAgent
  }

  static fromCrawler({ settings, spider }: Crawler): UserAgentMiddleware {
    const own = (spider as { userAgent?: unknown }).userAgent
    const userAgent = typeof own === 'string' ? own : settings.getString('USER_AGENT')
    if (userAgent === '') throw new NotConfigured('USER_AGENT is empty')
    return new this(userAgent)
  }

  processRequest(request: Request): void {
    if (!request.headers.has('user-agent')) request.headers.set('user-agent', this.#userAgent)
  }
}
