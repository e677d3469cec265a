/**
 * HTTP and HTTPS by undici.
 *
 * `fetch` costs more (measured: 286 against 113 µs of CPU a request), and this handler works one step below
 * `undici.request`. A dispatch handler is told when the request really leaves, from which a host's pace is counted; it sees
 * the headers before the body; and it can cut a body off without a stream in between.
 *
 * The path is sent as it stands in the request. `URL` would resolve dot segments and change escapes, and a site that tells
 * `/a/../b` from `/b` would see another request than the one that was fingerprinted.
 *
 * One deadline covers connecting, headers and body (`http-exchange.ts`). Which addresses are connected to, and how:
 * `connecting/`.
 */

import {
  type Awaitable,
  bodyBytesMaxOf,
  type Crawler,
  DownloadError,
  type DownloadHandler,
  type DownloadOptions,
  downloadTimeoutMsOf,
  Headers,
  isPromise,
  type JsonValue,
  type Logger,
  protectionStat,
  type Request,
  Response,
  type ResponseInit,
  type StatsCollector,
  withDeadline,
} from '@webloom/core'
import type { Dispatcher } from 'undici'
import { Connections } from '../connecting/connections.ts'
import { proxyOf } from '../proxies/proxy-address.ts'
import { BodyRoom } from './body-room.ts'
import { tooLate } from './exchange-errors.ts'
import { DEFAULT_LIMITS, type ExchangeLimits, exchangeLimitsOf } from './exchange-limits.ts'
import { type Answer, HttpExchange } from './http-exchange.ts'
import { RateClock } from './rate-watch.ts'
import { byName, wireHeaders, wireTarget } from './wire-request.ts'

/** What a request over HTTP is handed to. */
export interface HttpConnections {
  /** Asks for the site's addresses before a connection is made. Undefined or absent: there is nothing to wait for. */
  addressesAhead?(request: Request, origin: string): Promise<unknown> | undefined
  /** Of the site, or of the proxy that `meta.proxy` names. Throws or rejects for a request that may not be made. */
  dispatcherFor(request: Request, origin: string): Awaitable<Pick<Dispatcher, 'dispatch'>>
  /** Notes that a connection of the dispatcher that the request had was closed as it was used again. */
  noteCloser?(request: Request, origin: string, closed: Pick<Dispatcher, 'dispatch'>): void
  /** Ends all connections. */
  close(): Promise<void>
}

/** What the handler is made of. */
export interface HttpDownloadHandlerOptions {
  /** Connecting, headers and body together, milliseconds. `meta.download_timeout` (seconds) overrides it. */
  readonly timeoutMs?: number
  /**
   * Limits that are absent have the settings' defaults. `meta.download_maxsize` and `meta.download_fail_on_dataloss`
   * override them for one request.
   */
  readonly limits?: Partial<ExchangeLimits>
  /** Bytes of all bodies that are being received; beyond that the larger bodies wait for each other. 0: no bound. */
  readonly activeBytesMax?: number
  /** A body of more bytes is logged. 0: none is. */
  readonly bodyBytesWarn?: number
  /** Closed with the handler. Absent: such as may lead anywhere. */
  readonly connections?: HttpConnections
  /** Counts what the limits have ended. */
  readonly stats?: StatsCollector
  /** Told of large bodies. */
  readonly logger?: Logger
  /** Makes the answers. The spider package gives its own function, whose responses have selectors. */
  readonly createResponse?: (url: string, init: ResponseInit) => Response
}

/** The built-in handler of `http` and `https`. A class that extends it may answer some requests itself, and leave it the others. */
export class HttpDownloadHandler implements DownloadHandler {
  readonly #connections: HttpConnections
  readonly #timeoutMs: number
  readonly #limits: ExchangeLimits
  readonly #room: BodyRoom
  readonly #rateClock: RateClock
  readonly #bodyBytesWarn: number
  readonly #stats: StatsCollector | undefined
  readonly #logger: Logger | undefined
  readonly #createResponse: (url: string, init: ResponseInit) => Response

  constructor(options: HttpDownloadHandlerOptions = {}) {
    this.#timeoutMs = options.timeoutMs ?? 180_000
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits }
    this.#rateClock = new RateClock(this.#limits.rateMin, this.#limits.rateWindowMs)
    this.#room = new BodyRoom(options.activeBytesMax ?? 0)
    this.#bodyBytesWarn = options.bodyBytesWarn ?? 0
    this.#stats = options.stats
    this.#logger = options.logger
    this.#createResponse = options.createResponse ?? ((url, init) => new Response(url, init))
    this.#connections = options.connections ?? new Connections({ connectTimeoutMs: this.#timeoutMs })
  }

  static fromCrawler(crawler: Crawler): HttpDownloadHandler {
    const { settings, stats, logger, createResponse } = crawler
    return new this({
      timeoutMs: settings.getMs('DOWNLOAD_TIMEOUT'),
      limits: exchangeLimitsOf(settings),
      activeBytesMax: settings.getInt('DOWNLOAD_MAX_ACTIVE_SIZE'),
      bodyBytesWarn: settings.getInt('DOWNLOAD_WARNSIZE'),
      stats,
      connections: Connections.fromCrawler(crawler),
      logger,
      ...(createResponse && { createResponse }),
    })
  }

  async download(request: Request, options: DownloadOptions): Promise<Response> {
    const { signal, onStart, cutsBody = false, bodyTo } = options
    const target = wireTarget(request.url)
    const limits = cutsBody ? { ...this.#limitsOf(request), cutsBody } : this.#limitsOf(request)
    const timeoutMs = downloadTimeoutMsOf(request, this.#timeoutMs)
    // For nearly every page there is nothing to wait for.
    const lookup = this.#lookupAside(request, target.origin, timeoutMs, options)
    const lookupMs = lookup ? await lookup : 0
    const found = this.#connections.dispatcherFor(request, target.origin)
    const dispatcher = isPromise(found) ? await found : found
    const answer = await new Promise<Answer>((resolve, reject) => {
      const exchange = new HttpExchange(
        {
          request,
          limits,
          room: this.#room,
          rateClock: this.#rateClock,
          timeoutMs,
          elapsedMs: lookupMs,
          signal,
          onStart,
          bodyTo: bodyTo && ((status, headers) => bodyTo(status, Headers.fromWire(headers))),
        },
        resolve,
        (error) => {
          this.#count(error)
          if (error instanceof DownloadError && error.unread)
            this.#connections.noteCloser?.(request, target.origin, dispatcher)
          reject(error)
        },
      )
      dispatcher.dispatch(
        {
          origin: target.origin,
          path: target.path,
          method: request.method as Dispatcher.HttpMethod,
          // ProxyAgent would keep only the last of several values in a flat list.
          headers: proxyOf(request) ? byName(wireHeaders(request)) : wireHeaders(request),
          body: request.body.length > 0 ? request.body : null,
        },
        exchange,
      )
    })
    return this.#response(request, answer)
  }

  async close(): Promise<void> {
    await this.#connections.close()
  }

  /**
   * Waits for the addresses of the request's site, and lets other requests go meanwhile. Resolves to how long the look-up took,
   * milliseconds: it counts for DOWNLOAD_TIMEOUT, and the wait for a place afterwards does not. Rejects with the same errors as the
   * exchange, which then need not begin. Undefined when the addresses are known, or not needed.
   */
  #lookupAside(
    request: Request,
    origin: string,
    timeoutMs: number,
    { signal, stepAside }: DownloadOptions,
  ): Promise<number> | undefined {
    const lookup = stepAside && this.#connections.addressesAhead?.(request, origin)
    if (!lookup) return undefined
    const askedAtMs = performance.now()
    const late = () => {
      const error = tooLate(request, timeoutMs)
      this.#count(error)
      return error
    }
    const lookedUp = lookup.then(() => performance.now() - askedAtMs)
    return stepAside(withDeadline(timeoutMs, lookedUp, late, signal))
  }

  #limitsOf(request: Request): ExchangeLimits {
    if (!request.hasMeta) return this.#limits
    const { bodyBytesMax, failOnDataLoss } = this.#limits
    return {
      ...this.#limits,
      bodyBytesMax: bodyBytesMaxOf(request, bodyBytesMax),
      failOnDataLoss: booleanOf(request.meta.download_fail_on_dataloss, failOnDataLoss),
    }
  }

  #count(error: unknown): void {
    if (error instanceof DownloadError && error.reason) this.#stats?.inc(protectionStat(error.reason))
  }

  #response(request: Request, { status, headers, body, latencyMs, lossy }: Answer): Response {
    const warnAt = numberOf(request, 'download_warnsize', this.#bodyBytesWarn)
    if (warnAt > 0 && body.length > warnAt) {
      this.#logger?.warn(
        { url: request.url, bytes: body.length, DOWNLOAD_WARNSIZE: warnAt },
        'large response',
      )
    }
    request.meta.download_latency = latencyMs / 1000
    return this.#createResponse(request.url, {
      status,
      headers: Headers.fromWire(headers),
      body,
      request,
      ...(lossy && { flags: ['dataloss'] }),
    })
  }
}

function numberOf(request: Request, key: string, otherwise: number): number {
  if (!request.hasMeta) return otherwise
  const value = request.meta[key]
  return typeof value === 'number' && value >= 0 ? value : otherwise
}

function booleanOf(value: JsonValue | undefined, otherwise: boolean): boolean {
  return typeof value === 'boolean' ? value : otherwise
}
