/**
 * Runs callbacks: a response (or a failure) goes in, items and requests come out.
 *
 *     response → processSpiderInput of each middleware → callback → processSpiderOutput of each, the nearest to the
 *     spider first → each element: processSpiderRequest / processSpiderItem → prepared for the queue → collected
 *
 * What a callback yields is kept until it ends, so that a page which is fetched again hands on the same output under the
 * same ids. CALLBACK_OUTPUT_MAX bounds that: past it, what was collected so far is handed on.
 *
 * A callback that throws keeps what it yielded before, as in Scrapy.
 */

import {
  CloseSpider,
  DownloadError,
  isFlatJson,
  isPromise,
  type JsonObject,
  jsonCopy,
  type Logger,
  methodNamed,
  Request,
  type Signals,
  type SpiderMiddleware,
  type StatsCollector,
  throwerOf,
  thrownBy,
  type UrlMemory,
  WebloomError,
} from '@webloom/core'
import { InvalidItem } from '../items/item.ts'
import type { Response } from '../responses/response.ts'
import type { Spider } from '../spider.ts'
import { CallbackOutput, type Failure, type HandOn, SpiderClosing } from './callback-output.ts'
import { callbackOf, nameCallbacks, sourceOf } from './callbacks.ts'
import { type ItemHook, itemHooksOf, type RequestHook, requestHooksOf } from './element-hooks.ts'
import { thrownMessage, thrownName } from './error-kinds.ts'
import { logFailure } from './failure-log.ts'
import { FailureSnapshots, givenUpOf, threwFor } from './given-up.ts'
import { MetaWatch } from './meta-watch.ts'
import { asStream, hintOn, isAsyncIterable, isNoItem, isSyncIterable, nameOfValue } from './yielded-value.ts'

/** An element that `start()` may yield. */
export type StartElement = Request | { readonly item: unknown }

export interface ScraperOptions {
  readonly spider: Spider
  /** In order: the first middleware is nearest the engine. */
  readonly middlewares: readonly { name: string; component: SpiderMiddleware }[]
  /** Returns false when a downloader middleware refuses the request before it is queued. */
  readonly admits: (request: Request) => boolean
  /** Called with each response before anything of the spider sees it. Absent in tests. */
  readonly adopt?: (response: Response) => void
  readonly outputMax: number
  /** The crawl's memory of URLs; absent in tests. */
  readonly urls?: UrlMemory
  readonly stats: StatsCollector
  readonly signals: Signals
  readonly logger: Logger
}

export class Scraper {
  readonly #options: ScraperOptions
  readonly #components: readonly SpiderMiddleware[]
  /** The middlewares that see each request: they run for every link. */
  readonly #requestHooks: readonly RequestHook[]
  readonly #itemHooks: readonly ItemHook[]
  readonly #metaWatch: MetaWatch
  readonly #snapshots = new FailureSnapshots()

  constructor(options: ScraperOptions) {
    this.#options = options
    this.#components = options.middlewares.map(({ component }) => component)
    this.#requestHooks = requestHooksOf(options.middlewares)
    this.#itemHooks = itemHooksOf(options.middlewares)
    this.#metaWatch = new MetaWatch(options.logger)
  }

  /** Runs the request's callback on its response. Rejects only for `CloseSpider`, not for other errors of the spider. */
  async scrape(response: Response, handOn: HandOn): Promise<CallbackOutput> {
    const output = new CallbackOutput()
    this.#options.adopt?.(response)
    let by = ''
    try {
      for (const { name, component } of this.#options.middlewares) {
        by = name
        const hook = component.processSpiderInput?.(response)
        if (isPromise(hook)) await hook
      }
    } catch (error) {
      return this.#kept(response, thrownBy(error, `${by}.processSpiderInput`), handOn)
    }
    const { spider } = this.#options
    try {
      const { callback } = response.request
      const method = methodNamed(spider, typeof callback === 'string' ? callback : 'parse', 'callback')
      await this.#collect(
        this.#wrapped(response, method.call(spider, response, response.cbKwargs)),
        response,
        output,
        handOn,
      )
    } catch (error) {
      await this.#callbackThrew(error, response, output, handOn)
    }
    this.#sift(output, response)
    return this.#counted(output)
  }

  /** Calls the errback, if there is one, and logs why the callback gets no response. */
  async fail(failure: Failure, handOn: HandOn): Promise<CallbackOutput> {
    const output = new CallbackOutput()
    output.failure = failure
    const { spider, stats, logger } = this.#options
    const { request, error, response } = failure
    if (error instanceof DownloadError) stats.inc(`downloader/given_up/${error.reason ?? error.kind}`)
    if (request.errback === null) {
      logFailure(failure, this.#options.logger, (error) => this.#countException(error))
      return this.#givenUp(output, failure)
    }
    logger.debug({ url: request.url, reason: thrownMessage(error) }, 'telling the errback')
    try {
      const method = methodNamed(spider, String(request.errback), 'errback')
      const yielded = method.call(spider, failure)
      await this.#collect(response ? this.#wrapped(response, yielded) : yielded, response, output, handOn)
    } catch (thrown) {
      await this.#callbackThrew(thrown, response, output, handOn, request)
    }
    return this.#givenUp(this.#counted(output), failure)
  }

  /** An errback that yields something has dealt with the failure. */
  #givenUp(output: CallbackOutput, failure: Failure): CallbackOutput {
    if (output.yielded > 0) return output
    const { response } = failure
    const givenUp = givenUpOf(failure)
    output.givenUp = givenUp && this.#snapshots.with(givenUp, response)
    return output
  }

  #counted(output: CallbackOutput): CallbackOutput {
    if (output.yielded > 0) this.#options.stats.inc('spider_output/yielded_count', output.yielded)
    return output
  }

  /** Yields what `start()` yields, one element at a time, each prepared for the queue or the pipelines. */
  async *startElements(): AsyncGenerator<StartElement> {
    let stream: AsyncIterable<unknown> = asStream(this.#options.spider.start())
    for (const component of [...this.#components].reverse())
      stream = component.processStart?.(stream) ?? stream
    for await (const element of stream) {
      const single = new CallbackOutput()
      this.#take(element, null, single)
      if (single.yielded > 0) this.#options.stats.inc('start/yielded_count')
      yield* single.requests
      for (const item of single.items) yield { item }
    }
  }

  /** Handles a response that a middleware kept from the callback: calls the errback, or else asks the middlewares. */
  async #kept(response: Response, error: unknown, handOn: HandOn): Promise<CallbackOutput> {
    const { request } = response
    const output = new CallbackOutput()
    if (request.errback === null && (await this.#rescued(response, error, output, handOn))) return output
    return this.fail({ request, error, response }, handOn)
  }

  /** Passes a redirect's target to the scheduler: returns it, or nothing when a middleware refuses it. */
  admit(request: Request): Request[] {
    return this.#options.admits(this.prepare(request)) ? [request] : []
  }

  /** Passes a seed to the scheduler: the middlewares see it as they see elements of start(). */
  admitSeed(seed: Request): Request[] {
    const request = this.#letThrough(seed, null)
    return request === null ? [] : this.admit(request)
  }

  /** Returns why this spider cannot take the answer to a queued request: it lacks the method. Undefined when it can. */
  whyNot({ callback, errback }: Request): string | undefined {
    try {
      if (typeof callback === 'string') methodNamed(this.#options.spider, callback, 'callback')
      if (typeof errback === 'string') methodNamed(this.#options.spider, errback, 'errback')
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }

  /** Prepares a request for the queue: callbacks by name, meta and cbKwargs as JSON would return them. */
  prepare(request: Request): Request {
    nameCallbacks(this.#options.spider, request)
    if (request.hasMeta && !isFlatJson(request.meta))
      request.meta = jsonCopy(request.meta, (path) => `meta${path} of ${request}`) as JsonObject
    if (request.hasCbKwargs && !isFlatJson(request.cbKwargs))
      request.cbKwargs = jsonCopy(request.cbKwargs, (path) => `cbKwargs${path} of ${request}`) as JsonObject
    return request
  }

  #wrapped(response: Response, yielded: unknown): unknown {
    if (!this.#components.some(({ processSpiderOutput }) => processSpiderOutput)) return yielded
    let stream: AsyncIterable<unknown> = asStream(yielded)
    for (const component of [...this.#components].reverse())
      stream = component.processSpiderOutput?.(response, stream) ?? stream
    return stream
  }

  async #collect(
    yielded: unknown,
    response: Response | null,
    output: CallbackOutput,
    handOn: HandOn,
  ): Promise<void> {
    const result = isPromise(yielded) ? await yielded : yielded
    if (isSyncIterable(result)) {
      for (const element of result) {
        // As in an async generator: `yield item(schema, value)` may be a promise.
        const taken = !(element instanceof Request) && isPromise(element) ? await element : element
        this.#take(taken, response, output)
        if (output.size >= this.#options.outputMax) await this.#handOnEarly(output, response, handOn)
      }
    } else if (isAsyncIterable(result)) {
      for await (const element of result) {
        this.#take(element, response, output)
        if (output.size >= this.#options.outputMax) await this.#handOnEarly(output, response, handOn)
      }
    } else {
      this.#take(result, response, output)
    }
  }

  /** Lets middlewares that want all requests of a page at once choose from them. */
  #sift(output: CallbackOutput, response: Response): void {
    for (const component of this.#components) {
      if (!component.processSpiderRequests || output.requests.length === 0) continue
      try {
        const kept = component.processSpiderRequests(output.requests, output.items, response)
        if (kept !== output.requests) output.requests.splice(0, output.requests.length, ...kept)
      } catch (thrown) {
        const error = thrownBy(thrown, 'processSpiderRequests')
        this.#countException(error)
        this.#options.logger.error(
          { url: response.url, err: error },
          'processSpiderRequests threw; the page’s requests are kept as they are',
        )
      }
    }
  }

  async #handOnEarly(output: CallbackOutput, response: Response | null, handOn: HandOn): Promise<void> {
    if (response) this.#sift(output, response)
    this.#options.stats.inc('scraper/callback_output_max_reached')
    output.handedOn += output.size
    await handOn(output)
  }

  #take(element: unknown, response: Response | null, output: CallbackOutput): void {
    if (element instanceof Request) this.#takeRequest(element, response, output)
    else if (typeof element === 'object' && element !== null) this.#takeItem(element, response, output)
    else if (element !== undefined && element !== null) this.#refuse(element, response)
  }

  #takeRequest(yielded: Request, response: Response | null, output: CallbackOutput): void {
    if (yielded.hasMeta && !this.#hasGoodMeta(yielded, response)) return
    const request = this.#letThrough(yielded, response)
    try {
      if (request) this.prepare(request)
    } catch (error) {
      this.#refuseRequest(request ?? yielded, response, error)
      return
    }
    output.yielded++
    if (!request) return
    this.#options.urls?.share(request)
    if (this.#options.admits(request)) output.requests.push(request)
    else void this.#options.signals.send('requestDropped', { request, spider: this.#options.spider })
  }

  #hasGoodMeta(request: Request, response: Response | null): boolean {
    try {
      this.#metaWatch.look(request, () => sourceOf(response))
      return true
    } catch (error) {
      this.#refuseRequest(request, response, error)
      return false
    }
  }

  /** Returns what the middlewares make of a request; null when one of them drops it. */
  #letThrough(yielded: Request, response: Response | null): Request | null {
    let request: Request | null = yielded
    for (const hook of this.#requestHooks) {
      request = hook(request, response)
      if (request === null) return null
    }
    return request
  }

  #takeItem(yielded: object, response: Response | null, output: CallbackOutput): void {
    if (isNoItem(yielded)) {
      this.#refuse(yielded, response)
      return
    }
    output.yielded++
    if (yielded instanceof InvalidItem) {
      output.items.push(yielded)
      return
    }
    // Items are kept until the callback ends. An item that is changed and yielded again must not change those before.
    let item: unknown = Object.getPrototypeOf(yielded) === Object.prototype ? { ...yielded } : yielded
    for (const hook of this.#itemHooks) {
      item = hook(item, response)
      if (item === null || item === undefined) return
    }
    output.items.push(item)
  }

  #refuse(element: unknown, response: Response | null): void {
    const { logger, stats } = this.#options
    stats.inc('spider_output/invalid_count')
    logger.error(
      { ...sourceOf(response), value: nameOfValue(element), code: 'WL_YIELD_INVALID' },
      `${response ? 'a callback' : 'start()'} must yield requests, items (plain objects or your own classes) or nothing; this is dropped${hintOn(element)}`,
    )
  }

  /** Refuses the request; the rest of the callback's output stays. */
  #refuseRequest(request: Request, response: Response | null, error: unknown): void {
    const { logger, stats } = this.#options
    this.#countException(error)
    stats.inc('spider_output/refused_count')
    logger.error(
      {
        url: request.url,
        ...(response && { page: response.url, callback: callbackOf(response) }),
        // The stack of an error of ours shows nothing of the user's code.
        ...(error instanceof WebloomError ? { code: error.code, reason: error.message } : { err: error }),
      },
      `this request cannot be queued and is not made; ${response ? 'the callback' : 'start()'} goes on`,
    )
  }

  #countException(error: unknown): void {
    const { stats } = this.#options
    stats.inc('spider_exceptions/count')
    stats.inc(`spider_exceptions/${thrownName(error)}`)
  }

  /** Returns whether a middleware yielded something in place of the error. A middleware that throws is ignored. */
  async #rescued(
    response: Response,
    error: unknown,
    output: CallbackOutput,
    handOn: HandOn,
  ): Promise<boolean> {
    for (const component of [...this.#components].reverse()) {
      try {
        const instead = component.processSpiderException?.(response, error)
        if (instead === undefined) continue
        await this.#collect(this.#wrapped(response, instead), response, output, handOn)
        return true
      } catch (thrown) {
        const error = thrownBy(thrown, 'processSpiderException')
        this.#countException(error)
        this.#options.logger.error(
          { url: response.url, err: error },
          'processSpiderException threw; the next middleware is asked',
        )
      }
    }
    return false
  }

  async #callbackThrew(
    thrown: unknown,
    response: Response | null,
    output: CallbackOutput,
    handOn: HandOn,
    request = response?.request,
  ): Promise<void> {
    const error = thrownBy(thrown, output.failure ? 'the errback' : 'the callback')
    if (error instanceof CloseSpider) throw new SpiderClosing(error.reason, output)
    if (response && (await this.#rescued(response, error, output, handOn))) return
    const { logger, signals, spider } = this.#options
    this.#countException(error)
    logger.error(
      { url: request?.url, callback: request?.callback ?? 'parse', err: error },
      `${throwerOf(error) ?? 'the callback'} threw; what was yielded before is kept`,
    )
    if (!response) return
    // Of an errback that threw the failure before counts, see `fail`.
    if (!output.failure) output.givenUp = this.#snapshots.with(threwFor(error, response), response)
    await signals.send('spiderError', { error, response, spider })
  }
}
