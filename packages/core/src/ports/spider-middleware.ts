import type { Request } from '../requests/request.ts'
import type { Response } from '../requests/response.ts'
import type { Awaitable } from '../waiting/awaitable.ts'

/**
 * Sees what goes into callbacks and what comes out: lower orders are nearer the engine, higher ones nearer the spider. Each
 * hook may be left out. The two hooks for single elements cost nearly nothing; `processSpiderOutput` wraps the whole
 * stream, for middlewares that add, reorder or hold back.
 */
export interface SpiderMiddleware {
  /** An error keeps the response from the callback; the errback and `processSpiderException` get it. */
  processSpiderInput?(response: Response): Awaitable<void>
  /**
   * Gets a request that the callback (or, with `response` null, `start()`) yielded, and returns it, changed or not, or null
   * to drop it.
   */
  processSpiderRequest?(request: Request, response: Response | null): Request | null
  /** Does the same for an item. */
  processSpiderItem?(item: unknown, response: Response | null): unknown
  /**
   * Called when a callback has ended, or has yielded CALLBACK_OUTPUT_MAX. Returns the requests to keep. It sees all
   * requests that no hook has dropped, and the items, at once.
   */
  processSpiderRequests?(
    requests: readonly Request[],
    items: readonly unknown[],
    response: Response,
  ): readonly Request[]
  /** Wraps the stream of all that a callback yields. */
  processSpiderOutput?(response: Response, output: AsyncIterable<unknown>): AsyncIterable<unknown>
  /** Called when the callback or a hook threw. Returns what to yield instead; nothing: the next middleware is called. */
  processSpiderException?(
    response: Response,
    error: unknown,
  ): Iterable<unknown> | AsyncIterable<unknown> | undefined
  /** Wraps the stream of all that `start()` yields. */
  processStart?(start: AsyncIterable<unknown>): AsyncIterable<unknown>
}
