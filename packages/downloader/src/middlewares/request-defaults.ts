import { type Crawler, type DownloaderMiddleware, Headers, NotConfigured, type Request } from '@webloom/core'

/** Adds DEFAULT_REQUEST_HEADERS to each request that does not set them itself. */
export class DefaultHeadersMiddleware implements DownloaderMiddleware {
  readonly #defaults: Headers

  constructor(headers: Readonly<Record<string, string | readonly string[]>>) {
    this.#defaults = new Headers(headers)
  }

  static fromCrawler({ settings }: Crawler): DefaultHeadersMiddleware {
    const given = Object.entries(settings.getDict('DEFAULT_REQUEST_HEADERS')).filter(
      ([, value]) => value !== null,
    )
    return new this(Object.fromEntries(given.map(([name, value]) => [name, String(value)])))
  }

  processRequest(request: Request): void {
    request.headers.addMissing(this.#defaults)
  }
}

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

/** Gives each request the spider's own `downloadTimeout` (seconds), unless its meta sets one. */
export class DownloadTimeoutMiddleware implements DownloaderMiddleware {
  readonly #timeoutSeconds: number

  constructor(timeoutSeconds: number) {
    this.#timeoutSeconds = timeoutSeconds
  }

  static fromCrawler({ spider }: Crawler): DownloadTimeoutMiddleware {
    const own = (spider as { downloadTimeout?: unknown }).downloadTimeout
    // DOWNLOAD_TIMEOUT is the handler's default already, and need not be written into each request.
    if (typeof own !== 'number') throw new NotConfigured('the spider has no downloadTimeout')
    return new this(own)
  }

  processRequest(request: Request): void {
    request.meta.download_timeout ??= this.#timeoutSeconds
  }
}
