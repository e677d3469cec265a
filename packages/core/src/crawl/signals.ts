import type { Request } from '../requests/request.ts'
import type { Response } from '../requests/response.ts'
import type { SpiderLike } from './spider-like.ts'

/** What each signal carries. The names are Scrapy's in camelCase. */
export interface SignalPayloads {
  /** The engine begins; no page has been fetched. */
  engineStarted: object
  /** Follows `spiderClosed`; queue and filter are still open. */
  engineStopped: object
  /** Pipelines are open, and `start()` is about to be asked. */
  spiderOpened: { spider: SpiderLike }
  /** No request is waiting or in flight. Sent before the crawl finishes. */
  spiderIdle: { spider: SpiderLike }
  /** No request is in flight any more, and pipelines and feeds are closed. `reason` is the `finish_reason`. */
  spiderClosed: { spider: SpiderLike; reason: string }
  /** A callback threw. */
  spiderError: { error: unknown; response: Response; spider: SpiderLike }
  /** The dupefilter has called the request new, and it goes into the queue. */
  requestScheduled: { request: Request; spider: SpiderLike }
  /** The request was seen before, or a middleware refuses it: it will not be fetched. */
  requestDropped: { request: Request; spider: SpiderLike }
  /** The request has left the queue and goes into the downloader middlewares. */
  requestReachedDownloader: { request: Request; spider: SpiderLike }
  /** The downloader is done with the request, whether there is an answer or not. */
  requestLeftDownloader: { request: Request; spider: SpiderLike }
  /** The download handler has the whole answer; middlewares have not seen it yet. */
  responseDownloaded: { request: Request; response: Response; spider: SpiderLike }
  /** The answer has passed the downloader middlewares. */
  responseReceived: { request: Request; response: Response; spider: SpiderLike }
  /** Nothing more comes of the request here: it is committed, tried again later, or given up, `error` says why, or back in the queue. */
  requestDone: { request: Request; error: unknown; spider: SpiderLike }
  /** The item has passed all pipelines and is written. */
  itemScraped: { item: unknown; response: Response | null; spider: SpiderLike }
  /** A pipeline threw `DropItem`. */
  itemDropped: { item: unknown; response: Response | null; error: unknown; spider: SpiderLike }
  /** A pipeline threw something else, or no output could write the item. */
  itemError: { item: unknown; response: Response | null; error: unknown; spider: SpiderLike }
}

/** The names that `signals.connect` takes. */
export type SignalName = keyof SignalPayloads

/** Every name, for `crawler.signals.connect(signals.itemScraped, …)`. The string does as well. */
export const signals = {
  engineStarted: 'engineStarted',
  engineStopped: 'engineStopped',
  spiderOpened: 'spiderOpened',
  spiderIdle: 'spiderIdle',
  spiderClosed: 'spiderClosed',
  spiderError: 'spiderError',
  requestScheduled: 'requestScheduled',
  requestDropped: 'requestDropped',
  requestReachedDownloader: 'requestReachedDownloader',
  requestLeftDownloader: 'requestLeftDownloader',
  responseDownloaded: 'responseDownloaded',
  responseReceived: 'responseReceived',
  requestDone: 'requestDone',
  itemScraped: 'itemScraped',
  itemDropped: 'itemDropped',
  itemError: 'itemError',
} as const satisfies { readonly [Name in SignalName]: Name }

/** Called with the signal's payload; a promise is awaited. An error is logged, and other handlers still run. */
export type SignalHandler<Name extends SignalName> = (payload: SignalPayloads[Name]) => unknown
type AnyHandler = (payload: never) => unknown

/** Tells components what happens. A handler that throws is reported to `onError`, and other handlers still run. */
export class Signals {
  readonly #handlers = new Map<SignalName, AnyHandler[]>()
  readonly #onError: (signal: SignalName, error: unknown) => void

  constructor(onError: (signal: SignalName, error: unknown) => void) {
    this.#onError = onError
  }

  /** Calls `handler` at each `name` from now on. Returns a function that disconnects it. */
  connect<Name extends SignalName>(name: Name, handler: SignalHandler<Name>): () => void {
    if (!Object.hasOwn(signals, name))
      throw new TypeError(
        `there is no signal ${JSON.stringify(name)}; known: ${Object.keys(signals).join(', ')}`,
      )
    const handlers = this.#handlers.get(name)
    if (handlers) handlers.push(handler)
    else this.#handlers.set(name, [handler])
    return () => this.#disconnect(name, handler)
  }

  /** Returns false when no handler is connected, so that the payload need not be made. */
  listened(name: SignalName): boolean {
    return this.#handlers.has(name)
  }

  /** Calls every handler in the order in which they were connected, and resolves when all have ended. Never rejects. */
  async send<Name extends SignalName>(name: Name, payload: SignalPayloads[Name]): Promise<void> {
    const handlers = this.#handlers.get(name)
    if (!handlers) return
    for (const handler of [...handlers]) {
      try {
        await (handler as SignalHandler<Name>)(payload)
      } catch (error) {
        this.#onError(name, error)
      }
    }
  }

  #disconnect(name: SignalName, handler: AnyHandler): void {
    const rest = (this.#handlers.get(name) ?? []).filter((one) => one !== handler)
    if (rest.length > 0) this.#handlers.set(name, rest)
    else this.#handlers.delete(name)
  }
}
