import type { Request } from 'webloom'
import { type Crawler, type DownloaderMiddleware, NotConfigured } from 'webloom/ports'

/** Tells each site whom to write to: the header From (RFC 9110, 10.1.2), by the setting CUSTOM_CONTACT. */
export class Contact implements DownloaderMiddleware {
  readonly #address: string

  constructor(address: string) {
    this.#address = address
  }

  static fromCrawler({ settings }: Crawler) {
    const address = settings.get('CUSTOM_CONTACT')
    if (typeof address !== 'string') throw new NotConfigured('CUSTOM_CONTACT is not set')
    return new Contact(address)
  }

  processRequest(request: Request) {
    request.headers.set('From', this.#address)
  }
}
