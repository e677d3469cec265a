import { type Crawler, type DownloaderMiddleware, NotConfigured, type Request } from '@webloom/core'

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
