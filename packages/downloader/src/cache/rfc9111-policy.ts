/**
 * A private cache by RFC 9111, under the name of Scrapy's RFC2616Policy.
 *
 * Beyond the standard it stores, as Scrapy does, only what can be of use again: an answer with an expiry, with a validator,
 * or of a status that hardly ever changes. `alwaysStore` keeps all that `no-store` does not forbid. Where
 * http-cache-semantics decides otherwise is in `docs/decisions/by-hand-or-by-a-library.md`.
 */

import type { Crawler, Headers, Request, Response } from '@webloom/core'
import { type CacheControl, cacheControl, deltaSeconds } from './cache-control.ts'
import type { CachedResponse, HttpCachePolicy } from './http-cache-policy.ts'

/** The options of the policy `rfc2616`. */
export interface Rfc9111PolicyOptions {
  /** HTTPCACHE_ALWAYS_STORE. True: every answer is stored that no `no-store` forbids. Default false. */
  readonly alwaysStore?: boolean
  /** HTTPCACHE_IGNORE_SCHEMES: requests with one of these schemes go past the cache. */
  readonly ignoredSchemes?: readonly string[]
  /** HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS: directives of servers that are ignored. */
  readonly ignoredDirectives?: readonly string[]
  /** Milliseconds since 1970. Tests give their own. */
  readonly now?: () => number
}

// RFC 9110 §15.1: answers with these statuses may be kept for a time that is guessed.
const HEURISTIC: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
// As in Firefox and Scrapy: without other information they are fresh for a year.
const LASTING: ReadonlySet<number> = new Set([300, 301, 308])
const YEAR_SECONDS = 31_536_000
// RFC 9111 §4.2.2: the guess is a tenth of the time since the last change.
const HEURISTIC_FRACTION = 0.1

/** Keeps and uses the answers that servers allow to: HTTPCACHE_POLICY=rfc2616. */
export class Rfc9111Policy implements HttpCachePolicy {
  readonly #alwaysStore: boolean
  readonly #ignoredSchemes: ReadonlySet<string>
  readonly #ignoredDirectives: readonly string[]
  readonly #now: () => number

  constructor(options: Rfc9111PolicyOptions = {}) {
    this.#alwaysStore = options.alwaysStore ?? false
    this.#ignoredSchemes = new Set(options.ignoredSchemes)
    this.#ignoredDirectives = (options.ignoredDirectives ?? []).map((name) => name.toLowerCase())
    this.#now = options.now ?? Date.now
  }

  static fromCrawler({ settings }: Crawler): Rfc9111Policy {
    return new this({
      alwaysStore: settings.getBool('HTTPCACHE_ALWAYS_STORE'),
      ignoredSchemes: settings.getList('HTTPCACHE_IGNORE_SCHEMES').map(String),
      ignoredDirectives: settings.getList('HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS').map(String),
    })
  }

  mayCacheRequest({ method, url, headers }: Request): boolean {
    if (method !== 'GET' && method !== 'HEAD') return false
    if (this.#ignoredSchemes.has(url.slice(0, url.indexOf(':')))) return false
    // A request for a part, or with a condition of its own, needs the server's answer.
    if (['range', 'if-none-match', 'if-modified-since', 'if-range'].some((name) => headers.has(name)))
      return false
    return !cacheControl(headers).has('no-store')
  }

  mayStore(response: Response): boolean {
    const { status, headers } = response
    const control = this.#control(headers)
    if (control.has('no-store') || status === 206 || status === 304 || status < 200) return false
    if (headers.getAll('vary').some((names) => names.includes('*'))) return false
    if (this.#alwaysStore || deltaSeconds(control, 'max-age') !== undefined || headers.has('expires'))
      return true
    if (LASTING.has(status)) return true
    return HEURISTIC.has(status) && (headers.has('last-modified') || headers.has('etag'))
  }

  /** Returns true when the headers by which the answer was chosen are the same again (RFC 9111 §4.1). */
  answers({ response, requestHeaders }: CachedResponse, { headers }: Request): boolean {
    const names = response.headers
      .getAll('vary')
      .flatMap((value) => value.split(','))
      .map((name) => name.trim())
      .filter((name) => name !== '')
    return names.every((name) => headers.getAll(name).join(',') === requestHeaders.getAll(name).join(','))
  }

  isFresh(cached: CachedResponse, request: Request): boolean {
    const control = this.#control(cached.response.headers)
    const asked = cacheControl(request.headers)
    if (control.has('no-cache') || asked.has('no-cache')) return false
    const age = this.#ageSeconds(cached)
    const lifetime = this.#lifetimeSeconds(cached.response)
    const limit = Math.min(lifetime, deltaSeconds(asked, 'max-age') ?? lifetime)
    if (age + (deltaSeconds(asked, 'min-fresh') ?? 0) < limit) return true
    if (!asked.has('max-stale') || control.has('must-revalidate')) return false
    return asked.get('max-stale') === null || age < limit + (deltaSeconds(asked, 'max-stale') ?? 0)
  }

  validators({ response: { headers } }: CachedResponse): Readonly<Record<string, string>> {
    const etag = headers.get('etag')
    const modified = headers.get('last-modified')
    return {
      ...(etag !== null && { 'if-none-match': etag }),
      ...(modified !== null && { 'if-modified-since': modified }),
    }
  }

  holdsOn(cached: CachedResponse, { status }: Response): boolean {
    return status === 304 || (status >= 500 && this.survivesFailure(cached))
  }

  survivesFailure({ response }: CachedResponse): boolean {
    const control = this.#control(response.headers)
    return !control.has('must-revalidate') && !control.has('no-cache')
  }

  invalidates({ method }: Request, { status }: Response): boolean {
    return !['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(method) && status >= 200 && status < 400
  }

  #control(headers: Headers): CacheControl {
    const control = new Map(cacheControl(headers))
    for (const name of this.#ignoredDirectives) control.delete(name)
    return control
  }

  /** Returns how long the answer is fresh (RFC 9111 §4.2.1 and §4.2.2). */
  #lifetimeSeconds({ status, headers }: Response): number {
    const maxAge = deltaSeconds(this.#control(headers), 'max-age')
    if (maxAge !== undefined) return maxAge
    const date = dateMs(headers.get('date')) ?? this.#now()
    const expires = headers.get('expires')
    // A text that is not a date, such as "0", is a time in the past.
    if (expires !== null) return Math.max(0, (dateMs(expires) ?? 0) - date) / 1000
    const modified = dateMs(headers.get('last-modified'))
    if (modified !== undefined && modified <= date && HEURISTIC.has(status))
      return ((date - modified) / 1000) * HEURISTIC_FRACTION
    return LASTING.has(status) ? YEAR_SECONDS : 0
  }

  /** Returns the answer's age (RFC 9111 §4.2.3). */
  #ageSeconds({ response: { headers }, storedAtMs }: CachedResponse): number {
    const apparent = Math.max(0, storedAtMs - (dateMs(headers.get('date')) ?? storedAtMs)) / 1000
    const told = headers.get('age') ?? ''
    const atArrival = Math.max(apparent, /^\d+$/.test(told) ? Number(told) : 0)
    return atArrival + Math.max(0, this.#now() - storedAtMs) / 1000
  }
}

function dateMs(text: string | null): number | undefined {
  const ms = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}
