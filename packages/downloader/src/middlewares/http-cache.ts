import { createHash } from 'node:crypto'
import {
  type Awaitable,
  type Component,
  type ComponentClass,
  type Crawler,
  DownloadError,
  type DownloaderMiddleware,
  type DownloadOptions,
  type Fingerprinter,
  fingerprinterOf,
  fromCrawler,
  Headers,
  IgnoreRequest,
  isPromise,
  type Logger,
  NoAnswer,
  NotConfigured,
  type OptionNames,
  Request,
  Response,
  type ResponseInit,
  requireMethods,
  SettingsError,
  type StatsCollector,
  valueShown,
  WebloomError,
  within,
} from '@webloom/core'
import { DummyPolicy } from '../cache/dummy-policy.ts'
import { FileCacheStorage } from '../cache/file-cache-storage.ts'
import type { CachedResponse, HttpCachePolicy } from '../cache/http-cache-policy.ts'
import { BrokenCacheEntry, type CachedExchange, type HttpCacheStorage } from '../cache/http-cache-storage.ts'
import { readRendered, renderedAs, writeRendered } from '../cache/rendered-entry.ts'
import { Rfc9111Policy } from '../cache/rfc9111-policy.ts'
import { SqliteCacheStorage } from '../cache/sqlite-cache-storage.ts'
import { byName } from '../http/wire-request.ts'

export interface HttpCacheMiddlewareOptions {
  readonly policy: HttpCachePolicy
  readonly storage: HttpCacheStorage
  readonly fingerprinter: Fingerprinter
  /** True (replay): a request whose answer is not in the cache is dropped. */
  readonly ignoreMissing: boolean
  /** DOWNLOAD_TIMEOUT in milliseconds: a storage that takes longer for an answer is gone on without. */
  readonly storageMsMax: number
  readonly createResponse: (url: string, init: ResponseInit) => Response
  /** Returns how a request is fetched that is in the middlewares now. Absent in tests. */
  readonly optionsOf?: (request: Request) => DownloadOptions | undefined
  readonly stats: StatsCollector
  readonly logger: Logger
}

/** A request that goes out although the cache has an answer, as that may no longer hold. */
interface Revalidation {
  readonly cached: CachedResponse
  /** The names of the headers that were added to ask whether it does. */
  readonly added: readonly string[]
}

/**
 * Answers requests from the cache, as far as the policy allows; such responses have the flag `cached`. `meta.dont_cache`
 * lets a request pass.
 *
 * The cache never fails a crawl: an entry that cannot be read is fetched again, an answer that cannot be written is not
 * kept, and both are counted.
 */
export class HttpCacheMiddleware implements DownloaderMiddleware {
  readonly #options: HttpCacheMiddlewareOptions
  readonly #revalidations = new WeakMap<Request, Revalidation>()
  /** The storage did not answer of them in time: a page waits for it once. */
  readonly #unanswered = new WeakSet<Request>()
  #writeFailed = false
  #readFailed = false

  constructor(options: HttpCacheMiddlewareOptions) {
    this.#options = options
  }

  static fromCrawler(crawler: Crawler): HttpCacheMiddleware {
    const { settings, stats, logger, signals, downloader } = crawler
    if (!settings.getBool('HTTPCACHE_ENABLED')) throw new NotConfigured('HTTPCACHE_ENABLED is false')
    const [storageClass, policyClass] = [settings.get('HTTPCACHE_STORAGE'), settings.get('HTTPCACHE_POLICY')]
    const policy = componentOf(policyClass, POLICIES, POLICY_METHODS, 'HTTPCACHE_POLICY', crawler)
    const storage = componentOf(storageClass, STORAGES, STORAGE_METHODS, 'HTTPCACHE_STORAGE', crawler)
    signals.connect('spiderClosed', () => storage.close())
    return new this({
      policy,
      storage,
      fingerprinter: fingerprinterOf(settings, 'scrapy', stats),
      ignoreMissing: settings.getBool('HTTPCACHE_IGNORE_MISSING'),
      storageMsMax: settings.getMs('DOWNLOAD_TIMEOUT'),
      createResponse: crawler.createResponse ?? ((url, init) => new Response(url, init)),
      ...(downloader && { optionsOf: (request) => downloader.optionsOf(request) }),
      stats,
      logger,
    })
  }

  async processRequest(request: Request): Promise<Response | undefined> {
    const { policy, stats, ignoreMissing } = this.#options
    if (request.meta.dont_cache || !policy.mayCacheRequest(request)) return undefined
    const cached = await this.#retrieve(request)
    if (!cached || !policy.answers(cached, request)) {
      stats.inc('httpcache/miss')
      if (!ignoreMissing) return undefined
      stats.inc('httpcache/ignore')
      throw new IgnoreRequest(
        `${request} is not in the cache, and HTTPCACHE_IGNORE_MISSING is true`,
        'WL_NOT_IN_CACHE',
      )
    }
    if (policy.isFresh(cached, request)) {
      stats.inc('httpcache/hit')
      return cached.response
    }
    const validators = Object.entries(policy.validators(cached))
    for (const [name, value] of validators) request.headers.set(name, value)
    this.#revalidations.set(request, { cached, added: validators.map(([name]) => name) })
    return undefined
  }

  async processResponse(request: Request, response: Response): Promise<Response> {
    const { policy, stats } = this.#options
    const stale = this.#revalidated(request)
    if (request.meta.dont_cache || response.flags.includes('cached')) return response
    if (policy.invalidates(request, response)) await this.#remove(request)
    if (!policy.mayCacheRequest(request)) return response
    if (!stale) stats.inc('httpcache/firsthand')
    else if (policy.holdsOn(stale, response)) {
      stats.inc('httpcache/revalidate')
      return response.status === 304 ? this.#freshened(request, stale, response) : stale.response
    } else stats.inc('httpcache/invalidate')
    await this.#keep(request, response)
    return response
  }

  processException(request: Request, error: unknown): Response | undefined {
    const stale = this.#revalidated(request)
    if (!stale || !(error instanceof DownloadError) || !this.#options.policy.survivesFailure(stale))
      return undefined
    this.#options.stats.inc('httpcache/errorrecovery')
    return stale.response
  }

  /** Returns the stale answer for which this request went out. Its headers are removed, as a retry must not send them again. */
  #revalidated(request: Request): CachedResponse | undefined {
    const revalidation = this.#revalidations.get(request)
    if (!revalidation) return undefined
    this.#revalidations.delete(request)
    for (const name of revalidation.added) request.headers.delete(name)
    return revalidation.cached
  }

  async #retrieve(request: Request): Promise<CachedResponse | undefined> {
    const { storage, createResponse, stats, logger } = this.#options
    try {
      const exchange = await this.#answer('retrieve', storage.retrieve(this.#key(request)))
      if (exchange === undefined) return undefined
      refuseOtherThanExchange(exchange, storage)
      const { url, status, body, responseHeaders, requestHeaders, storedAtMs, rendered } = exchange
      const headers = wireHeaders(responseHeaders)
      const browser = rendered === undefined ? {} : { browser: readRendered(rendered) }
      const response = createResponse(url, { status, headers, body, request, flags: ['cached'], ...browser })
      return { response, requestHeaders: wireHeaders(requestHeaders), storedAtMs }
    } catch (error) {
      stats.inc('httpcache/retrieve_error')
      if (error instanceof NoAnswer) this.#unanswered.add(request)
      if (error instanceof BrokenCacheEntry)
        logger.debug(
          { url: request.url, reason: error.message },
          'an entry of the HTTP cache is broken; the page is fetched again',
        )
      else this.#cannotRead(error)
      return undefined
    }
  }

  async #keep(request: Request, response: Response): Promise<void> {
    const { policy, stats } = this.#options
    // Half a body would stay half a body.
    const isWhole = !response.flags.includes('dataloss')
    if (!isWhole || !policy.mayStore(response, request)) {
      stats.inc('httpcache/uncacheable')
      return
    }
    if (this.#unanswered.has(request)) stats.inc('httpcache/store_error')
    else await this.#store(request, response)
  }

  /** Returns the stored answer with the headers of the 304 (RFC 9111 §4.3.4). */
  async #freshened(request: Request, stale: CachedResponse, notModified: Response): Promise<Response> {
    const headers = new Headers(stale.response.headers)
    for (const name of new Set([...notModified.headers].map(([one]) => one)))
      if (!OF_THE_BODY.has(name)) headers.set(name, notModified.headers.getAll(name))
    const response = stale.response.replace({ headers })
    await this.#store(request, response)
    return response
  }

  async #store(request: Request, response: Response): Promise<void> {
    const { storage, stats } = this.#options
    const exchange: CachedExchange = {
      method: request.method,
      url: response.url,
      requestHeaders: [...request.headers].filter(([name]) => !SECRETS.has(name)),
      requestBody: request.body,
      status: response.status,
      responseHeaders: [...response.headers],
      body: response.body,
      storedAtMs: Date.now(),
      ...(response.browser && { rendered: writeRendered(response.browser) }),
    }
    try {
      await this.#answer('store', storage.store(this.#key(request), exchange))
      stats.inc('httpcache/store')
    } catch (error) {
      this.#cannotWrite(error)
    }
  }

  async #remove(request: Request): Promise<void> {
    try {
      await this.#answer('remove', this.#options.storage.remove(this.#key(new Request(request.url))))
    } catch (error) {
      this.#cannotWrite(error)
    }
  }

  /** Returns the answer of the storage, if it comes in time. What it does later is dropped. */
  #answer<T>(method: string, answer: Awaitable<T>): Awaitable<T> {
    if (!isPromise(answer)) return answer
    const { storage, storageMsMax } = this.#options
    return within(
      storageMsMax,
      `${storage.constructor.name}.${method} (DOWNLOAD_TIMEOUT)`,
      Promise.resolve(answer),
    )
  }

  #cannotRead(error: unknown): void {
    if (!this.#readFailed)
      this.#options.logger.error(
        { err: error },
        'the HTTP cache cannot be read; the crawl goes on, and downloads those pages. A page whose storage does not answer is not stored, either',
      )
    this.#readFailed = true
  }

  #cannotWrite(error: unknown): void {
    const { stats, logger } = this.#options
    stats.inc('httpcache/store_error')
    if (!this.#writeFailed)
      logger.error({ err: error }, 'the HTTP cache cannot be written; the crawl goes on')
    this.#writeFailed = true
  }

  /** Returns the entry's name. A user's own FINGERPRINTER may return any text, which must not choose a file's name. */
  #key(request: Request): string {
    const { fingerprinter, optionsOf } = this.#options
    const fingerprint = fingerprinter.fingerprint(request) + renderedAs(request, optionsOf?.(request))
    if (/^[0-9a-f]{32,128}$/.test(fingerprint)) return fingerprint
    return createHash('sha1').update(fingerprint).digest('hex')
  }
}

// Headers that a 304 may not change: they belong to the stored body.
const OF_THE_BODY: ReadonlySet<string> = new Set([
  'content-length',
  'content-encoding',
  'content-type',
  'content-range',
  'transfer-encoding',
])
// An answer that varies by one of these headers is fetched each time: better than passwords on disk.
const SECRETS: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization'])

/** A storage of a user's own may return anything. */
function refuseOtherThanExchange(stored: unknown, storage: HttpCacheStorage): void {
  const { responseHeaders, requestHeaders, body } = (stored ?? {}) as Partial<CachedExchange>
  if (Array.isArray(responseHeaders) && Array.isArray(requestHeaders) && body instanceof Uint8Array) return
  throw new WebloomError(
    'WL_COMPONENT_ANSWER',
    `the HTTP cache storage ${storage.constructor.name} answered retrieve() with ${valueShown(stored)}; expected undefined, or an exchange as store() got it: lists of headers, and a body of bytes`,
  )
}

function wireHeaders(pairs: CachedExchange['responseHeaders']): Headers {
  return Headers.fromWire(byName(pairs.flat()))
}

const POLICIES: Readonly<Record<string, ComponentClass<HttpCachePolicy>>> = {
  dummy: DummyPolicy,
  rfc2616: Rfc9111Policy,
}

const STORAGES: Readonly<Record<string, ComponentClass<HttpCacheStorage>>> = {
  file: FileCacheStorage,
  sqlite: SqliteCacheStorage,
}

const POLICY_METHODS: OptionNames<HttpCachePolicy> = {
  mayCacheRequest: true,
  mayStore: true,
  answers: true,
  isFresh: true,
  validators: true,
  holdsOn: true,
  survivesFailure: true,
  invalidates: true,
}

const STORAGE_METHODS: OptionNames<HttpCacheStorage> = {
  retrieve: true,
  store: true,
  remove: true,
  close: true,
}

/** Returns the built-in component of that name, or the class that the setting holds. */
function componentOf<T extends object>(
  component: Component,
  builtins: Readonly<Record<string, ComponentClass<T>>>,
  methods: OptionNames<T>,
  setting: 'HTTPCACHE_POLICY' | 'HTTPCACHE_STORAGE',
  crawler: Crawler,
): T {
  const Class = typeof component === 'string' ? builtins[component] : (component as ComponentClass<T>)
  if (typeof Class !== 'function')
    throw new SettingsError([
      `${setting} is ${valueShown(component)}; expected ${Object.keys(builtins).join(', ')}, a class or ./file.ts#Export`,
    ])
  const made = fromCrawler(Class, crawler, setting)
  const what = setting === 'HTTPCACHE_POLICY' ? 'HTTP cache policy' : 'HTTP cache storage'
  requireMethods(made, Object.keys(methods), what, setting)
  return made
}
