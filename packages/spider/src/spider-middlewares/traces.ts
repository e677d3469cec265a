/**
 * Spans of OpenTelemetry: a page is a trace of its own, with what was done for it below.
 *
 *     page                        from the queue until it is committed, retried or given up
 *       ├─ download               all middlewares and the network
 *       ├─ callback               with all that it waits for; spans that the spider begins are below it
 *       └─ commit                 items written, links queued
 *
 * The page on which a link was found is a *link* of the span and never its parent: else a crawl would be one trace of a million spans.
 * It travels in `meta.traceparent`, as W3C writes it.
 *
 * Whoever wants spans has an SDK in the process and sets TRACES; without an SDK the API does nothing. With TRACES at 0 nothing of
 * this is loaded.
 */

import { createRequire } from 'node:module'
import { join } from 'node:path'
import {
  type Crawler,
  crawlTitle,
  NotConfigured,
  Request,
  type Response,
  type Signals,
  type SpiderMiddleware,
  UsageError,
} from '@webloom/core'

/** What is used of `@opentelemetry/api`, which is there only where somebody has installed it. */
export interface TracesApi {
  readonly trace: {
    getTracer(name: string): {
      startSpan(name: string, options?: object, context?: unknown): TraceSpan
    }
    setSpan(context: unknown, span: TraceSpan): unknown
  }
  readonly context: { with<T>(context: unknown, act: () => T): T }
  readonly ROOT_CONTEXT: unknown
}

interface TraceSpan {
  spanContext(): { readonly traceId: string; readonly spanId: string; readonly traceFlags: number }
  setAttribute(name: string, value: string | number): unknown
  setStatus(status: { readonly code: number; readonly message?: string }): unknown
  recordException(error: Error): void
  end(): void
}

export interface TracesOptions {
  readonly api: TracesApi
  /** The share of pages that have a trace, 0 to 1. */
  readonly share: number
  readonly crawl: string
  readonly signals: Pick<Signals, 'connect'>
  /** Default: Math.random. */
  readonly random?: () => number
}

const PACKAGE = '@opentelemetry/api'
const ERROR = 2
const URL_CHARS_MAX = 2000

/** A page that has a trace. */
interface TracedPage {
  readonly span: TraceSpan
  readonly context: unknown
  part: TraceSpan | undefined
}

export class TracesMiddleware implements SpiderMiddleware {
  readonly #options: TracesOptions
  readonly #tracer: ReturnType<TracesApi['trace']['getTracer']>
  readonly #pages = new WeakMap<Request, TracedPage>()

  constructor(options: TracesOptions) {
    this.#options = options
    this.#tracer = options.api.trace.getTracer('webloom')
    const { signals } = options
    signals.connect('requestReachedDownloader', ({ request }) => this.#begun(request))
    signals.connect('requestLeftDownloader', ({ request }) => this.#partOver(request))
    signals.connect('requestDone', ({ request, error }) => this.#done(request, error))
  }

  /** Throws WL_USAGE where TRACES asks for it and the API is not installed. */
  static fromCrawler({ settings, signals, spider }: Crawler): TracesMiddleware {
    const share = settings.getFloat('TRACES')
    if (share === 0) throw new NotConfigured('TRACES is 0')
    return new this({
      api: tracesApi(),
      share,
      crawl: crawlTitle(spider.name, settings.get('CRAWL_ID')),
      signals,
    })
  }

  processSpiderInput(response: Response): void {
    const page = this.#pages.get(response.request)
    if (!page) return
    page.span.setAttribute('http.response.status_code', response.status)
    page.span.setAttribute('http.response.body.size', response.body.length)
    this.#begin(page, 'callback')
  }

  /** The spider's code runs inside its span, so that spans which it begins are below that. */
  async *processSpiderOutput(response: Response, output: AsyncIterable<unknown>): AsyncIterable<unknown> {
    const page = this.#pages.get(response.request)
    if (!page?.part) return yield* output
    const { api } = this.#options
    const inside = api.trace.setSpan(page.context, page.part)
    const stream = output[Symbol.asyncIterator]()
    try {
      for (;;) {
        const { done, value } = await api.context.with(inside, () => stream.next())
        if (done) return
        if (value instanceof Request) value.meta.traceparent = traceparentOf(page.span)
        yield value
      }
    } catch (error) {
      failed(page.part, error)
      throw error
    } finally {
      await stream.return?.()
      this.#begin(page, 'commit')
    }
  }

  #begun(request: Request): void {
    const { share, random = Math.random, api, crawl } = this.#options
    if (random() >= share) return
    const link = linkIn(request)
    const span = this.#tracer.startSpan(
      'page',
      {
        root: true,
        attributes: {
          'url.full': request.url.slice(0, URL_CHARS_MAX),
          'http.request.method': request.method,
          'webloom.crawl': crawl,
        },
        links: link ? [{ context: link }] : [],
      },
      api.ROOT_CONTEXT,
    )
    const page: TracedPage = { span, context: api.trace.setSpan(api.ROOT_CONTEXT, span), part: undefined }
    this.#pages.set(request, page)
    this.#begin(page, 'download')
  }

  /** One part of a page follows another. */
  #begin(page: TracedPage, part: string): void {
    page.part?.end()
    page.part = this.#tracer.startSpan(part, {}, page.context)
  }

  #partOver(request: Request): void {
    const page = this.#pages.get(request)
    page?.part?.end()
    if (page) page.part = undefined
  }

  #done(request: Request, error: unknown): void {
    const page = this.#pages.get(request)
    if (!page) return
    this.#pages.delete(request)
    page.part?.end()
    if (error !== undefined) failed(page.span, error)
    page.span.end()
  }
}

function failed(span: TraceSpan, error: unknown): void {
  const told = error instanceof Error ? error : new Error(String(error))
  span.recordException(told)
  span.setStatus({ code: ERROR, message: told.message })
}

function traceparentOf(span: TraceSpan): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/** Meta may come from anywhere: only what is a traceparent is taken for one. */
function linkIn({ hasMeta, meta }: Request): object | undefined {
  const text = hasMeta ? meta.traceparent : undefined
  const [, traceId, spanId, flags = '0'] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(typeof text === 'string' ? text : '') ?? []
  return traceId && spanId
    ? { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
    : undefined
}

/** Returns the API package of the project, which has the SDK, too; they find each other whichever copy is loaded. */
function tracesApi(): TracesApi {
  for (const from of [join(process.cwd(), 'package.json'), import.meta.filename]) {
    try {
      return createRequire(from)(PACKAGE) as TracesApi
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  throw new UsageError(
    'WL_USAGE',
    `TRACES needs the package ${PACKAGE}, which is not installed. Install it with an SDK:  npm install ${PACKAGE} @opentelemetry/sdk-node`,
  )
}
