import type { Headers, Request, Response } from '@webloom/core'

/** An answer from the cache, and what a policy needs to judge it. */
export interface CachedResponse {
  /** The answer as it was stored. */
  readonly response: Response
  /** The headers of the request that it answered. */
  readonly requestHeaders: Headers
  /** When the answer came, or was last confirmed; milliseconds since 1970. */
  readonly storedAtMs: number
}

/** Decides what a cache keeps and what it may still give. */
export interface HttpCachePolicy {
  /** Returns false when the cache must neither answer the request nor keep its answer. */
  mayCacheRequest(request: Request): boolean
  /** Returns true when the answer is to be kept. Called for each complete answer that comes from a server. */
  mayStore(response: Response, request: Request): boolean
  /** Returns false when the cached answer belongs to another request after all (Vary); the cache then treats it as absent. */
  answers(cached: CachedResponse, request: Request): boolean
  /** Returns true when the cached answer may be given. When false, the request goes out, with `validators` as headers. */
  isFresh(cached: CachedResponse, request: Request): boolean
  /** Returns headers by which the server can tell whether the cached answer still holds; empty when it cannot. */
  validators(cached: CachedResponse): Readonly<Record<string, string>>
  /** Returns true when the new answer only confirms the cached one, or is an error for which the cached one may stand in. */
  holdsOn(cached: CachedResponse, response: Response): boolean
  /** Returns true when the cached answer may stand in for an answer that never came. */
  survivesFailure(cached: CachedResponse): boolean
  /** Returns true when an answer to this request makes the cached GET of its URL out of date. */
  invalidates(request: Request, response: Response): boolean
}
