import {
  type BodyTo,
  type Crawler,
  type DownloaderMiddleware,
  type DownloadOptions,
  type DownloadResult,
  IgnoreRequest,
  type Logger,
  type Request,
  type Response,
  type Signals,
  type SpiderLike,
  thrownBy,
} from '@webloom/core'
import { type DownloadHandlers, handlerFor } from './handlers/download-handlers.ts'
import { handlerAnswer } from './handlers/handler-answer.ts'
import { type DownloadDeadline, downloadDeadlineOf } from './handlers/in-time.ts'
import { addReceivedBytes } from './http/received-bytes.ts'
import { composeMiddlewares } from './middleware-onion.ts'

export interface DownloaderOptions {
  /** By URL scheme without the colon, and by the names that `meta.download_handler` may give. */
  readonly handlers: DownloadHandlers
  /** How long each of them may take for a download. */
  readonly deadline: DownloadDeadline
  /** In order: the first is nearest the engine. */
  readonly middlewares: readonly { name: string; component: DownloaderMiddleware }[]
  readonly signals: Signals
  readonly logger: Logger
  readonly spider: SpiderLike
}

/** Middlewares and handlers as one. The downloader has no delay of its own: pace belongs to the queue. */
export class Downloader {
  readonly #handlers: DownloadHandlers
  readonly #deadline: DownloadDeadline
  readonly #admission: DownloaderOptions['middlewares']
  readonly #fetch: (request: Request, options: DownloadOptions) => Promise<DownloadResult>
  readonly #signals: Signals
  readonly #logger: Logger
  readonly #spider: SpiderLike
  readonly #underWay = new WeakMap<Request, DownloadOptions>()
  readonly #failedThroughHost = new WeakSet<Request>()

  constructor({ handlers, deadline, middlewares, signals, logger, spider }: DownloaderOptions) {
    this.#handlers = handlers
    this.#deadline = deadline
    this.#admission = middlewares.filter(({ component }) => component.requestScheduled)
    this.#fetch = composeMiddlewares(middlewares, (request, options) => this.#download(request, options))
    this.#signals = signals
    this.#logger = logger
    this.#spider = spider
  }

  static fromCrawler(
    crawler: Crawler,
    parts: Pick<DownloaderOptions, 'handlers' | 'middlewares'>,
  ): Downloader {
    const { signals, logger, spider } = crawler
    return new this({ ...parts, deadline: downloadDeadlineOf(crawler), signals, logger, spider })
  }

  /** Returns false when a middleware refuses the request before it is queued (offsite). The middleware has counted that. */
  admits(request: Request): boolean {
    let by = ''
    try {
      for (const { name, component } of this.#admission) {
        by = name
        component.requestScheduled!(request)
      }
      return true
    } catch (error) {
      if (!(error instanceof IgnoreRequest)) throw thrownBy(error, `${by}.requestScheduled`)
      this.#logger.debug({ url: request.url, reason: error.message }, 'request refused')
      return false
    }
  }

  /** Resolves to a Response for the callback, to a Request that takes this one's place, or to a `RetryLater`. */
  async fetch(request: Request, options: DownloadOptions): Promise<DownloadResult> {
    this.#underWay.set(request, options)
    try {
      return await this.#fetch(request, options)
    } finally {
      // V8 has moved a request that waited long to its old generation, where it would keep the options alive until the next
      // full collection.
      this.#underWay.delete(request)
    }
  }

  /**
   * Returns the options of a request that is being fetched, for middlewares that must ask the host for something else
   * first.
   */
  optionsOf(request: Request): DownloadOptions | undefined {
    return this.#underWay.get(request)
  }

  /** The request has failed through its host, which has answered before and will pause. */
  blameHost(request: Request): void {
    this.#failedThroughHost.add(request)
  }

  /** Returns whether its host is to blame that the request failed: then it may wait with it. */
  isHostToBlame(request: Request): boolean {
    return this.#failedThroughHost.has(request)
  }

  async close(): Promise<void> {
    for (const handler of new Set(Object.values(this.#handlers))) await handler.close?.()
  }

  async #download(request: Request, given: DownloadOptions): Promise<Response> {
    const spider = this.#spider
    const options = given.bodyTo ? countingTo(given, given.bodyTo, request) : given
    const handler = handlerFor(request, this.#handlers, options)
    if (this.#signals.listened('requestReachedDownloader')) {
      await this.#signals.send('requestReachedDownloader', { request, spider })
    }
    try {
      const response = await handlerAnswer(handler, request, options, this.#deadline)
      if (this.#signals.listened('responseDownloaded')) {
        await this.#signals.send('responseDownloaded', { request, response, spider })
      }
      return response
    } finally {
      if (this.#signals.listened('requestLeftDownloader')) {
        await this.#signals.send('requestLeftDownloader', { request, spider })
      }
    }
  }
}

/** The same options, with which what is handed on is counted, too. */
function countingTo(options: DownloadOptions, bodyTo: BodyTo, request: Request): DownloadOptions {
  return {
    ...options,
    bodyTo: (status, headers) => {
      const take = bodyTo(status, headers)
      return (
        take &&
        ((chunk) => {
          addReceivedBytes(request, chunk.length)
          take(chunk)
        })
      )
    },
  }
}
