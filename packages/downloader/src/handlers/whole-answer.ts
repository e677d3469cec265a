import {
  type DownloadOptions,
  Headers,
  type HeadersInit,
  type Request,
  Response,
  type ResponseInit,
} from '@webloom/core'

export type CreateResponse = (url: string, init: ResponseInit) => Response

/** The answer to a request whose body is here as a whole: whoever wants to take it gets it in place of the answer. */
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
