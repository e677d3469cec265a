import type { Headers } from '../requests/headers.ts'
import type { Request } from '../requests/request.ts'
import type { Response } from '../requests/response.ts'
import type { Awaitable } from '../waiting/awaitable.ts'
import type { DocumentPace, HostNews, HostState } from './host-clock.ts'
import type { RetryWhen } from './request-queue.ts'

/** Fetches requests of one scheme. A browser can be one. */
export interface DownloadHandler {
  /**
   * Resolves to the answer, whatever its status. Rejects with `DownloadError` when there is none, and when `signal` fires.
   * Calls `onStart` when the request leaves. Callbacks get the answer as it is, so make it by `crawler.createResponse`, or
   * of the class `Response` of `webloom`: core's own class has no selectors.
   */
  download(request: Request, options: DownloadOptions): Promise<Response>
  /**
   * True: the handler keeps DOWNLOAD_TIMEOUT itself, and may let a request wait for a free place before that time begins. It must
   * heed `signal`. Absent: `download` is cut off when the time is over.
   */
  readonly keepsDeadline?: boolean
  /** Closes what the handler has opened, when the crawl is over. Awaited. */
  close?(): Promise<void>
}

/** What a handler gets beside the request. */
export interface DownloadOptions {
  /** Fires when the crawl is cut off, or the lease is lost: the download ends with an error. DOWNLOAD_TIMEOUT the handler keeps itself. */
  readonly signal: AbortSignal
  /** Must be called when the request leaves: the host's delay is counted from then. */
  readonly onStart: () => void
  /**
   * Awaits what the request needs before it can leave, such as its host's addresses. Meanwhile the request takes none of the
   * CONCURRENT_REQUESTS places. Resolves or rejects as `wait` does, once there is a place for the request again; it goes before new
   * requests. The request keeps its place meanwhile where this is absent, or when too many have stepped aside.
   */
  readonly stepAside?: <T>(wait: Promise<T>) => Promise<T>
  /** True: of a body that is longer than allowed, the beginning is enough. */
  readonly cutsBody?: boolean
  /** Takes the body chunk by chunk, in place of `Response.body`. */
  readonly bodyTo?: BodyTo
  /** What is known of the request's host. */
  readonly host?: HostState
  /**
   * True when a delay lies between two requests to the host. A middleware that asks the host for something else first, such as
   * robots.txt, then sends the request back: it may leave only after the delay. Absent: no delay.
   */
  readonly isPaced?: boolean
  /**
   * For a handler that may ask for more than one document, as a browser does. It calls this before it waits for anything that other
   * pages may have, and then `mayLeave` before each document, the request itself included. Absent: no delay is known.
   */
  readonly documents?: () => DocumentPace
  /** Takes news of the host. Of several delays and pauses the longest counts. */
  readonly onHostNews?: (news: HostNews) => void
  /** True: a browser renders the page, where its request leaves that to the crawl (`meta.browser: 'auto'`). Absent: none does. */
  readonly isRendered?: boolean
  /**
   * Set while the page is fetched in two forms, one of which will count. Takes a function that remembers what the crawl keeps of this
   * answer, such as its cookies. That function is called when this answer counts, and never otherwise.
   */
  readonly onceItCounts?: (remember: () => Awaitable<void>) => void
}

/**
 * Called when an answer's headers have come. Returns the function that takes the body's chunks as they come, without
 * unpacking; undefined: the body is kept for `Response.body`, as that of any page. An error of that function ends the
 * download with the same error. It is called again when the download is retried.
 */
export type BodyTo = (status: number, headers: Headers) => ((chunk: Uint8Array) => void) | undefined

/** The options of a request that does not go through the queue. */
export interface FetchOptions {
  /** When it fires, the wait until the host may be asked, or the download, is given up. */
  readonly signal: AbortSignal
  /** Takes the body as it comes, in place of `Response.body`. */
  readonly bodyTo?: BodyTo
}

/**
 * A middleware's answer to have the same request fetched again: the request keeps its id and its place in the crawl, and is
 * not filtered. `request` carries what has changed, such as `meta.retry_times`.
 */
export class RetryLater {
  /** Goes back to the queue in place of the leased request. */
  readonly request: Request
  /** How long it waits, in milliseconds; or `first`, before all others of its host. */
  readonly when: RetryWhen

  constructor(request: Request, when: RetryWhen = 0) {
    this.request = request
    this.when = when
  }

  /** The least time that it waits, milliseconds. */
  get delayMs(): number {
    return this.when === 'first' ? 0 : this.when
  }
}

/** A Response goes on; a Request is queued in the page's place; a RetryLater is fetched again. */
export type DownloadResult = Request | Response | RetryLater

/**
 * Sees each request on its way out and each answer on its way back, as in Scrapy: lower orders are nearer the engine,
 * higher ones nearer the network. Each hook may be left out.
 */
export interface DownloaderMiddleware {
  /**
   * True for a middleware that chooses the way to a site, such as its proxy. Requests for robots.txt pass through such middlewares
   * only.
   */
  readonly alsoForRobotsTxt?: boolean
  /** Called before a new request goes to the scheduler. Throwing `IgnoreRequest` drops it there. */
  requestScheduled?(request: Request): void
  /**
   * Returns nothing: the next middleware is called. Returns a Response: nothing is fetched, and the Response passes every
   * `processResponse`. Returns a Request: that one is queued in place of this one. Throws `IgnoreRequest`: the request is
   * dropped.
   */
  processRequest?(request: Request): Awaitable<DownloadResult | undefined | void>
  /** Returns the Response to hand on, or a Request to be queued in the page's place. */
  processResponse?(request: Request, response: Response): Awaitable<DownloadResult>
  /** Returns nothing: the next middleware is called. A Response or a Request counts as in `processRequest`. */
  processException?(request: Request, error: unknown): Awaitable<DownloadResult | undefined | void>
}
