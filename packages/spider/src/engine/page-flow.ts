/**
 * The way of a page, from its lease to its commit:
 *
 *     fetch → Response: scrape, items out, commit with the links found
 *           → Request (redirect): commit with it as the only child
 *           → RetryLater: retry, back to the queue
 *           → error: errback, commit; the filter forgets the page if it may be new again
 */

import {
  CloseSpider,
  type DownloadOptions,
  type DownloadResult,
  type GivenUp,
  type HostNews,
  isFormOpen,
  type Lease,
  type Logger,
  PassingMap,
  Request,
  RetryLater,
  type Signals,
  type StatsCollector,
  strictestNews,
  WebloomError,
} from '@webloom/core'
import type { FetchForm, FormFetcher, InForms, OpenProbe } from '../page-forms/form-fetcher.ts'
import type { Response } from '../responses/response.ts'
import { type CallbackOutput, type Failure, type HandOn, SpiderClosing } from '../scraping/callback-output.ts'
import type { ItemProcessor } from '../scraping/item-processor.ts'
import type { Scraper } from '../scraping/scraper.ts'
import type { Spider } from '../spider.ts'
import { DownloadCut } from './download-cut.ts'
import { type DownloadPlace, DownloadPlaces } from './download-places.ts'
import type { EngineDownloader, EngineScheduler } from './engine-ports.ts'
import { eventLoopTurn } from './event-loop-turn.ts'
import { tellOfSelfRedirect } from './self-redirect.ts'

export interface PageFlowOptions {
  readonly spider: Spider
  readonly scheduler: EngineScheduler
  readonly downloader: EngineDownloader
  readonly scraper: Scraper
  readonly items: ItemProcessor
  /** Fetches pages whose requests leave it to the crawl whether a browser renders them. Absent: none is rendered. */
  readonly forms?: FormFetcher
  readonly stats: StatsCollector
  readonly signals: Signals
  readonly logger: Logger
  /** DUPEFILTER_RELEASE_ON_FAILURE: returns whether the filter forgets the page of such a failure. Default: it forgets none. */
  readonly forgets?: (failure: Failure) => boolean
  /** Called when a callback asks for the end of the crawl. */
  readonly onStop: (reason: string) => void
  /** Called for an error that is not the page's fault. */
  readonly onFailure: (error: unknown) => void
  /** Called when there is more room than before. */
  readonly onRoom: () => void
  /** CONCURRENT_REQUESTS; 0: no bound. */
  readonly downloadsMax: number
}

/** A fetch in one form of the page. */
type FormOptions = Pick<DownloadOptions, 'onStart' | 'isRendered' | 'onceItCounts'> & {
  readonly request: Request
}

// The least that a response counts, so that many tiny ones do not count as nothing (the figure is Scrapy's).
const RESPONSE_BYTES_MIN = 1024
const ONCE = { once: true }

/** The pages that are under way. */
export class PageFlow {
  readonly #options: PageFlowOptions
  /** What was learned about the hosts of leases under way. */
  readonly #hostNews = new WeakMap<Lease, HostNews>()
  /** The cut of each download that is under way, and its place. */
  readonly #cuts = new PassingMap<DownloadCut, DownloadPlace>()
  /** Of the lease that was watched last. A local queue has one signal for all leases, where a listener a page would be looked for among all. */
  #watched: AbortSignal | undefined
  readonly #onLost = (): void => {
    for (const cut of this.#cuts.keys()) cut.ifLost()
  }
  readonly #places: DownloadPlaces
  /** Why leases brought no page, for the signal `requestDone`. */
  readonly #errors = new WeakMap<Lease, unknown>()
  #size = 0
  #scrapingBytes = 0
  #abortReason: Error | undefined
  #hasToldWhy = false
  /** Why downloads do not begin any more. */
  #notBegun: Error | undefined
  /** True when the leases were given up: pages that end from now on are too late. */
  #isClosed = false

  constructor(options: PageFlowOptions) {
    this.#options = options
    const { downloadsMax, onRoom } = options
    this.#places = new DownloadPlaces({ max: downloadsMax || Number.POSITIVE_INFINITY, onRoom })
  }

  /** The places of CONCURRENT_REQUESTS. */
  get places(): Pick<DownloadPlaces, 'taken' | 'downloads' | 'room'> {
    return this.#places
  }

  /** Of downloads that have begun and have not ended. */
  get placesUnderWay(): Iterable<DownloadPlace> {
    return this.#cuts.values()
  }

  /** How many pages have not handed on all of their output. */
  get size(): number {
    return this.#size
  }

  /** Bytes of the responses that are in callbacks and pipelines. */
  get scrapingBytes(): number {
    return this.#scrapingBytes
  }

  get isAborted(): boolean {
    return this.#abortReason !== undefined
  }

  begin(lease: Lease): void {
    this.#size++
    void this.#toItsEnd(lease, this.#places.begin(lease.request))
  }

  /** Downloads that have no place and have sent nothing wait until `resume`; the others go on. */
  pause(): void {
    this.#places.pause()
  }

  resume(): void {
    this.#places.resume()
  }

  /** Requeues what has no place and has sent nothing, and lets the others end. Thousands may wait for the names of their hosts. */
  beginNoMore(): void {
    this.#notBegun ??= new WebloomError('WL_CLOSE_SPIDER', 'the crawl ends before this request is sent')
    for (const [cut, { isHeld, hasStarted }] of this.#cuts)
      if (!isHeld && !hasStarted) cut.now(this.#notBegun)
  }

  /** Cuts downloads off and requeues their requests; running callbacks hand on nothing more. */
  abort(): void {
    this.#abortReason ??= new WebloomError('WL_CLOSE_SPIDER', 'the crawl is stopped at once')
    for (const cut of this.#cuts.keys()) cut.now(this.#abortReason)
  }

  /** Makes pages that are still under way end without effect. */
  close(): void {
    this.#isClosed = true
  }

  async #toItsEnd(lease: Lease, place: DownloadPlace): Promise<void> {
    const { signals, spider, onRoom, onFailure } = this.#options
    try {
      await this.#page(lease, place)
    } catch (error) {
      onFailure(error)
    }
    this.#size--
    onRoom()
    if (!signals.listened('requestDone')) return
    await signals.send('requestDone', { request: lease.request, error: this.#errors.get(lease), spider })
  }

  async #page(lease: Lease, place: DownloadPlace): Promise<void> {
    const { scraper, forms } = this.#options
    const { request } = lease
    const cannot = scraper.whyNot(request)
    if (cannot !== undefined) {
      place.leave()
      return this.#reject(lease, cannot)
    }
    if (forms && request.hasMeta && isFormOpen(request)) return this.#pageInForms(lease, place, forms)
    let result: DownloadResult
    try {
      result = await this.#fetch(lease, place)
    } catch (error) {
      return this.#notFetched(lease, error)
    }
    await this.#fetched(lease, result)
  }

  /** Fetches a page over HTTP, rendered, or both: its request leaves that to the crawl. */
  async #pageInForms(lease: Lease, place: DownloadPlace, forms: FormFetcher): Promise<void> {
    let first: DownloadPlace | undefined = place
    const fetch: FetchForm = (request, options) => {
      if (this.isAborted || lease.signal.aborted) throw this.#abortReason ?? lease.signal.reason
      const taken = first ?? this.#places.begin(request)
      first = undefined
      return this.#fetch(lease, taken, { request, ...options })
    }
    const arrived = new Set<Response>()
    let fetched: InForms
    try {
      fetched = await forms.fetch(lease, fetch, (response) => {
        if (!arrived.has(response)) this.#scrapingBytes += weightOf(response)
        arrived.add(response)
      })
    } catch (error) {
      this.#forget(arrived)
      return this.#notFetched(lease, error)
    } finally {
      place.leave()
    }
    const { result, probe } = fetched
    try {
      // What counts is weighed as any page is.
      const page = result as Response
      if (arrived.delete(page)) this.#scrapingBytes -= weightOf(page)
      await this.#fetched(lease, result, probe)
    } finally {
      this.#forget(arrived)
    }
  }

  #forget(responses: ReadonlySet<Response>): void {
    for (const response of responses) this.#scrapingBytes -= weightOf(response)
  }

  async #notFetched(lease: Lease, error: unknown): Promise<void> {
    const isNotBegun = this.#notBegun !== undefined && error === this.#notBegun
    if (this.isAborted || lease.signal.aborted || isNotBegun) return this.#requeue(lease)
    if (error instanceof CloseSpider) {
      this.#cannotGoOn(error)
      return this.#requeue(lease)
    }
    if (this.#options.signals.listened('requestDone')) this.#errors.set(lease, error)
    return this.#fruitless(lease, { request: lease.request, error, response: null })
  }

  async #fetched(lease: Lease, result: DownloadResult, probe?: OpenProbe): Promise<void> {
    const { scraper, stats, signals, logger, spider } = this.#options
    // The lease was given up when the crawl was closed.
    if (this.#isClosed) return
    if (result instanceof Request) return this.#replace(lease, result)
    if (result instanceof RetryLater) return this.#retry(lease, result)
    const response = result as Response
    stats.inc('response_received_count')
    logger.debug({ url: response.url, status: response.status, bytes: response.body.length }, 'crawled')
    if (signals.listened('responseReceived'))
      await signals.send('responseReceived', { request: response.request, response, spider })
    const bytes = weightOf(response)
    this.#scrapingBytes += bytes
    try {
      await this.#handOnAll(lease, response, (handOn) =>
        probe ? probe.scrape(handOn) : scraper.scrape(response, handOn),
      )
    } finally {
      this.#scrapingBytes -= bytes
    }
  }

  async #fetch(
    lease: Lease,
    place: DownloadPlace,
    { request, onStart, ...form }: FormOptions = { request: lease.request, onStart: () => lease.started() },
  ): Promise<DownloadResult> {
    const cut = new DownloadCut(lease.signal)
    this.#cuts.set(cut, place)
    this.#watch(lease.signal)
    try {
      if (!place.isHeld) {
        if (this.#notBegun) throw this.#notBegun
        await cut.over(place.entered())
      }
      const download = this.#options.downloader.fetch(request, {
        ...form,
        signal: cut.signal,
        onStart: () => {
          place.sentAtMs = performance.now()
          onStart()
        },
        // At the crawl's end nothing comes in its place.
        stepAside: (wait) => (this.#notBegun ? wait : place.stepAside(wait)),
        documents: () => lease.documents(),
        host: lease.host,
        isPaced: lease.isPaced,
        onHostNews: (news) => this.#hostNews.set(lease, strictestNews(this.#hostNews.get(lease), news)),
      })
      return await cut.over(download)
    } finally {
      this.#cuts.delete(cut)
      place.leave()
    }
  }

  #watch(signal: AbortSignal): void {
    // A listener is not added twice. On Redis each lease has a signal of its own, and a WeakSet of those that are watched took 3 µs a page.
    if (signal !== this.#watched) signal.addEventListener('abort', this.#onLost, ONCE)
    this.#watched = signal
  }

  /** Commits a redirected page: its target takes the page's place, through the filter and the line of its own host. */
  async #replace(lease: Lease, target: Request): Promise<void> {
    const { scraper } = this.#options
    tellOfSelfRedirect(lease.request, target, this.#options)
    let admitted: Request[]
    try {
      admitted = scraper.admit(target)
    } catch (error) {
      return this.#fruitless(lease, { request: lease.request, error, response: null })
    }
    await this.#commit(lease, admitted, { marksAll: true })
  }

  async #fruitless(lease: Lease, failure: Failure): Promise<void> {
    await this.#handOnAll(lease, failure.response, (handOn) => this.#options.scraper.fail(failure, handOn))
  }

  /** Runs a callback and hands on all that it yields: items first, and the links with the page's commit. */
  async #handOnAll(
    lease: Lease,
    response: Response | null,
    run: (handOn: HandOn) => Promise<CallbackOutput>,
  ): Promise<void> {
    const { scheduler, items } = this.#options
    let itemsHandedOn = 0
    let part = 0
    const itemsOut = async (output: CallbackOutput) => {
      const batch = output.items.splice(0)
      await items.process(batch, lease.id, itemsHandedOn, output.response ?? response)
      itemsHandedOn += batch.length
    }
    let output: CallbackOutput
    try {
      output = await run(async (early) => {
        if (this.#abortReason) throw this.#abortReason
        this.#throwIfClosed(lease)
        if (early.items.length > 0) await itemsOut(early)
        // Each part has an asker of its own, which is the same when the page runs again.
        await scheduler.enqueue(early.requests.splice(0), `${lease.id}+${part++}`)
        await eventLoopTurn()
      })
    } catch (error) {
      if (!(error instanceof SpiderClosing)) throw error
      // What the callback had yielded before is kept.
      this.#options.onStop(error.reason)
      output = error.output
    }
    this.#throwIfClosed(lease)
    if (output.items.length > 0) await itemsOut(output)
    const { givenUp } = output
    await this.#commit(lease, output.requests, givenUp && { failure: givenUp })
    if (givenUp) this.#countGivenUp(givenUp)
    if (output.failure && this.#options.forgets?.(output.failure)) await scheduler.forget(lease)
  }

  #throwIfClosed({ request }: Lease): void {
    if (this.#isClosed)
      throw new WebloomError('WL_LEASE_LOST', `${request} was given up when the crawl was closed`)
  }

  #countGivenUp({ reason }: GivenUp): void {
    this.#options.stats.inc('failed/count')
    this.#options.stats.inc(`failed/reason_count/${reason}`)
  }

  #commit(
    lease: Lease,
    requests: readonly Request[],
    options: { marksAll?: boolean; failure?: GivenUp } = {},
  ): Promise<void> {
    const host = this.#hostNews.get(lease)
    return this.#options.scheduler.commit(lease, requests, host ? { ...options, host } : options)
  }

  #retry(lease: Lease, { request, when }: RetryLater): Promise<void> {
    return this.#options.scheduler.retry(lease, request, when, this.#hostNews.get(lease))
  }

  /** Rejects a request that this worker cannot do: another release yielded it, or another program queued it. */
  async #reject(lease: Lease, reason: string): Promise<void> {
    this.#options.logger.warn({ url: lease.request.url, reason }, 'rejected: this worker cannot do it')
    await this.#options.scheduler.reject(lease, reason)
  }

  /** Ends the crawl for a download handler that cannot work. All requests that it is given end with the same: it is told once. */
  #cannotGoOn({ message, reason }: CloseSpider): void {
    if (!this.#hasToldWhy) this.#options.logger.error(message)
    this.#hasToldWhy = true
    this.#options.onStop(reason)
  }

  async #requeue(lease: Lease): Promise<void> {
    if (!lease.signal.aborted) await this.#options.scheduler.requeue(lease)
  }
}

function weightOf({ body }: Response): number {
  return Math.max(RESPONSE_BYTES_MIN, body.length)
}
