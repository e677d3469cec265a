import type { Request } from '@webloom/core'

/**
 * Bytes of bodies that no `Response.body` has: the download failed after they had come, or they were handed on (`DownloadOptions.bodyTo`). They are
 * kept by the request, as one error may end many downloads.
 */
const received = new WeakMap<Request, number>()

export function addReceivedBytes(request: Request, bytes: number): void {
  if (bytes > 0) received.set(request, (received.get(request) ?? 0) + bytes)
}

/** Returns how many came since the last call. */
export function takeReceivedBytes(request: Request): number {
  const bytes = received.get(request) ?? 0
  if (bytes > 0) received.delete(request)
  return bytes
}
