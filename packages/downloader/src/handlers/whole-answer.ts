import {
  DownloadError,
  type DownloadOptions,
  Headers,
  type HeadersInit,
  type Request,
  Response,
  type ResponseInit,
} from '@webloom/core'

export type CreateResponse = (url: string, init: ResponseInit) => Response

/**
 * Returns the answer to a request whose whole body is known. Where the caller wants to take the body in chunks, it gets the
 * body, and the answer has none.
 */
export function wholeAnswer(
  request: Request,
  { headers, body }: { headers?: HeadersInit; body: Uint8Array },
  { bodyTo }: DownloadOptions,
  createResponse: CreateResponse = (url, init) => new Response(url, init),
): Response {
  const all = new Headers(headers)
  const take = bodyTo?.(200, all)
  take?.(body)
  return createResponse(request.url, { headers: all, body: take ? new Uint8Array(0) : body, request })
}

/** @param url as it is to be shown: a long `data:` URL only by its beginning */
export function tooLarge(url: string, bytesMax: number): DownloadError {
  return new DownloadError(
    'DownloadTooLargeError',
    `${url} has more than ${bytesMax} bytes (DOWNLOAD_MAXSIZE, or meta.download_maxsize)`,
  )
}
