import {
  DownloadError,
  type DownloadHandler,
  type DownloadOptions,
  type Request,
  Response,
  type ResponseInit,
} from '@webloom/core'

/** `data:` URLs: the page is in the URL itself, and nothing is connected to. */
export class DataDownloadHandler implements DownloadHandler {
  readonly #createResponse: (url: string, init: ResponseInit) => Response

  constructor(createResponse?: (url: string, init: ResponseInit) => Response) {
    this.#createResponse = createResponse ?? ((url, init) => new Response(url, init))
  }

  async download(request: Request, { signal, onStart, bodyTo }: DownloadOptions): Promise<Response> {
    onStart()
    // Node's fetch reads the URL by the rules of browsers, and opens no connection for it.
    const answer = await fetch(request.url, { signal }).catch((cause: unknown) => {
      signal.throwIfAborted()
      throw new DownloadError('DownloadFailedError', `${request.url} is no data: URL that can be read`, {
        cause,
      })
    })
    const body = new Uint8Array(await answer.arrayBuffer())
    const headers = { 'content-type': answer.headers.get('content-type') ?? '' }
    const response = this.#createResponse(request.url, { headers, body, request })
    bodyTo?.(response.status, response.headers)?.(body)
    return response
  }
}
