import type { Crawler, Request, Response } from '@webloom/core'
import type { HttpCachePolicy } from './http-cache-policy.ts'

/** Keeps every answer and never asks the server again: for writing a spider without the site, and for replay. */
export class DummyPolicy implements HttpCachePolicy {
  readonly #ignoredSchemes: ReadonlySet<string>
  readonly #ignoredStatuses: ReadonlySet<number>

  constructor({
    ignoredSchemes = [],
    ignoredStatuses = [],
  }: { ignoredSchemes?: readonly string[]; ignoredStatuses?: readonly number[] }) {
    this.#ignoredSchemes = new Set(ignoredSchemes)
    this.#ignoredStatuses = new Set(ignoredStatuses)
  }

  static fromCrawler({ settings }: Crawler): DummyPolicy {
    return new this({
      ignoredSchemes: settings.getList('HTTPCACHE_IGNORE_SCHEMES').map(String),
      ignoredStatuses: settings.getList('HTTPCACHE_IGNORE_HTTP_CODES').map(Number),
    })
  }

  mayCacheRequest({ url }: Request): boolean {
    return !this.#ignoredSchemes.has(url.slice(0, url.indexOf(':')))
  }

  mayStore({ status }: Response): boolean {
    return !this.#ignoredStatuses.has(status)
  }

  answers(): boolean {
    return true
  }

  isFresh(): boolean {
    return true
  }

  validators(): Readonly<Record<string, string>> {
    return {}
  }

  holdsOn(): boolean {
    return true
  }

  survivesFailure(): boolean {
    return true
  }

  invalidates(): boolean {
    return false
  }
}
