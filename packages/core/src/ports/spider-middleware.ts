import type { Request } from '../requests/request.ts'
import type { Response } from '../requests/response.ts'
import type { Awaitable } from '../waiting/awaitable.ts'

/**
 * Sees what goes into callbacks and what comes out: lower orders are nearer the engine, higher ones nearer the
 * spider. Each hook may be left out. The two per-element hooks cost nearly nothing; `processSpiderOutput` wraps the
 * whole stream and is for middlewares that add, reorder or hold back.
 */
export interface SpiderMiddleware {
  /** Throwing keeps the response from the callback; the errback and `processSpiderException` are told. */
  processSpiderInput?(response: Response): Awaitable<void>
  /** A request the callback (or, with `response` null, `start()`) yielded: hand it on, changed or not, or null to drop it. */
  processSpiderRequest?(request: Request, response: Response | null): Request | null
  /** The same for an item. */
  processSpiderItem?(item: unknown, response: Response | null): unknown
  /**
   * A callback has ended, or has yielded CALLBACK_OUTPUT_MAX: the requests to keep of those that no hook has dropped. Sees
   * all of them, and the items, at once.
   */
  processSpiderRequests?(
    requests: readonly Request[],
    items: readonly unknown[],
    response: Response,
  ): readonly Request[]
  /** The stream of all that a callback yields. */
  processSpiderOutput?(response: Response, output: AsyncIterable<unknown>): AsyncIterable<unknown>
  /** The callback or a hook threw: what to yield instead, or nothing to ask the next middleware. */
  processSpiderException?(
    response: Response,
    error: unknown,
  ): Iterable<unknown> | AsyncIterable<unknown> | undefined
  /** The stream of all that `start()` yields. */
  processStart?(start: AsyncIterable<unknown>): AsyncIterable<unknown>
}
