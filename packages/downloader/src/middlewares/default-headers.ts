import { type Crawler, type DownloaderMiddleware, Headers, type Request } from '@webloom/core'

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
