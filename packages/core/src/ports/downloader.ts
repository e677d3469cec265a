import type { Headers } from '../requests/headers.ts'
import type { Request } from '../requests/request.ts'
import type { Response } from '../requests/response.ts'
import type { Awaitable } from '../waiting/awaitable.ts'
import type { HostNews, HostState } from './host-clock.ts'
import type { RetryWhen } from './request-queue.ts'

/** Fetches requests of one scheme. A browser can be one. */
export interface DownloadHandler {
  /**
   * The answer, whatever its status. Rejects with `DownloadError` when there is none, and when `signal` fires.
   * Calls `onStart` at the moment the request leaves. Callbacks get the answer as it is: make it by `crawler.createResponse`, or
   * of the class `Response` of `webloom`, for core's own has no selectors.
   */
  download(request: Request, options: DownloadOptions): Promise<Response>
  /** The crawl is over: what the handler has opened goes. Waited for. */
  close?(): Promise<void>
}

/** What a handler is told beside the request. */
export interface DownloadOptions {
  /** Fires when the crawl is cut off, or the lease is lost: the download ends with an error. DOWNLOAD_TIMEOUT the handler keeps itself. */
  readonly signal: AbortSignal
  /** To be called when the request leaves: the host's delay is counted from then. */
  readonly onStart: () => void
  /** Of a body that is longer than allowed, the beginning will do. */
  readonly cutsBody?: boolean
  /** Where the body goes, chunk by chunk, in place of `Response.body`. */
  readonly bodyTo?: BodyTo
  /** What is known of the request's host. */
  readonly host?: HostState
  /** Something was learnt of the host. Of several delays and pauses the longest counts. */
  readonly onHostNews?: (news: HostNews) => void
}

/**
 * Asked when an answer's headers are there: who takes its body as it comes, unfolded by nobody. Undefined: it is kept for
 * `Response.body`, as that of any page. What the taker throws ends the download with that error. A download that is tried
 * again asks anew.
 */
export type BodyTo = (status: number, headers: Headers) => ((chunk: Uint8Array) => void) | undefined

/** What a request is given that does not go by way of the queue. */
export interface FetchOptions {
  /** When it fires, the wait until the host may be asked, or the download, is given up. */
  readonly signal: AbortSignal
  /** Takes the body as it comes, in place of `Response.body`. */
  readonly bodyTo?: BodyTo
}

/**
 * What a middleware answers to have the very same request asked again: it keeps its id and its place in the crawl,
 * and is not filtered. `request` carries what has changed, such as `meta.retry_times`.
 */
export class RetryLater {
  /** Goes back to the queue in place of the one that was asked. */
  readonly request: Request
  /** How long it waits, or whether it goes before all others of its host. */
  readonly when: RetryWhen

  constructor(request: Request, when: RetryWhen = 0) {
    this.request = request
    this.when = when
  }

  /** How long it waits at the least. */
  get delayMs(): number {
    return this.when === 'first' ? 0 : this.when
  }
}

/** A Response goes on; a Request is scheduled in the page's place; RetryLater asks again. */
export type DownloadResult = Request | Response | RetryLater

/**
 * Sees each request on its way out and each answer on its way back, as Scrapy's: lower orders are nearer the engine,
 * higher ones nearer the network. Each hook may be left out.
 */
export interface DownloaderMiddleware {
  /**
   * True for one that chooses the way to a site, such as its proxy. Requests for robots.txt go past all other middlewares,
   * and by way of this one.
   */
  readonly alsoForRobotsTxt?: boolean
  /** Called before a new request goes to the scheduler. Throwing `IgnoreRequest` drops it there. */
  requestScheduled?(request: Request): void
  /**
   * Nothing: go on to the next. A Response: nothing is fetched, and it goes back through every `processResponse`.
   * A Request: this one is given up and the other goes to the scheduler. Throwing `IgnoreRequest` drops it.
   */
  processRequest?(request: Request): Awaitable<DownloadResult | undefined | void>
  /** The Response to hand on, or a Request to be scheduled in its place. */
  processResponse?(request: Request, response: Response): Awaitable<DownloadResult>
  /** Nothing: the next middleware is asked. A Response or a Request as in `processRequest`. */
  processException?(request: Request, error: unknown): Awaitable<DownloadResult | undefined | void>
}
