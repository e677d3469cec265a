import type { Request } from '@webloom/core'

// By the request that failed: two crawls in one process share none.
const blamed = new WeakSet<Request>()

/** The request has failed through its host, which has answered before and will pause. */
export function blameHost(request: Request): void {
  blamed.add(request)
}

/** Whether its host is to blame that the request failed: then it may wait with it. */
export function isHostToBlame(request: Request): boolean {
  return blamed.has(request)
}
