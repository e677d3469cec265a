import type { Headers, Request, Response } from '@webloom/core'

/** An answer from the cache, and what must be known to judge it. */
export interface CachedResponse {
  /** As it was stored. */
  readonly response: Response
  /** Of the request that it answered. */
  readonly requestHeaders: Headers
  /** When it came, or was last confirmed; milliseconds since 1970. */
  readonly storedAtMs: number
}

/** Decides what a cache keeps and what it may still give. */
export interface HttpCachePolicy {
  /** False: the request goes past the cache, both ways. */
  mayCacheRequest(request: Request): boolean
  /** True: the answer is kept. Asked of each whole one that comes from a server. */
  mayStore(response: Response, request: Request): boolean
  /** False: the cached answer is one to another request after all, and as good as not there. */
  answers(cached: CachedResponse, request: Request): boolean
  /** True: the request is answered from the cache. False: it goes out, with `validators` as headers. */
  isFresh(cached: CachedResponse, request: Request): boolean
  /** Headers by which the server can tell whether the cached answer still holds; empty: it can't. */
  validators(cached: CachedResponse): Readonly<Record<string, string>>
  /** True: the new answer only says that the cached one still holds, or is an error which that may stand in for. */
  holdsOn(cached: CachedResponse, response: Response): boolean
  /** True: a cached answer may stand in for one that never came. */
  survivesFailure(cached: CachedResponse): boolean
  /** True: an answer to this request means that what GET gave for its URL is out of date. */
  invalidates(request: Request, response: Response): boolean
}
