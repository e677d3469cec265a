import {
  bodyBytesMaxOf,
  type Crawler,
  DownloadError,
  type DownloadHandler,
  type DownloadOptions,
  type Request,
  type Response,
} from '@webloom/core'
import { beginningOf, refuseOtherSchemes } from './scheme.ts'
import { type CreateResponse, tooLarge, wholeAnswer } from './whole-answer.ts'

/**
 * Answers `data:` URLs: the page is in the URL itself, and no connection is made. A URL of another scheme, which
 * `meta.download_handler` may bring here, is refused: the `fetch` that reads `data:` URLs would fetch it, past the address
 * guard and all bounds.
 */
export class DataDownloadHandler implements DownloadHandler {
  readonly #createResponse: CreateResponse | undefined
  readonly #bodyBytesMax: number

  /** @param bodyBytesMax DOWNLOAD_MAXSIZE, bytes: a longer body is refused. 0: no bound */
  constructor(createResponse?: CreateResponse, bodyBytesMax = 0) {
    this.#createResponse = createResponse
    this.#bodyBytesMax = bodyBytesMax
  }

  static fromCrawler({ createResponse, settings }: Crawler): DataDownloadHandler {
    return new this(createResponse, settings.getInt('DOWNLOAD_MAXSIZE'))
  }

  async download(request: Request, options: DownloadOptions): Promise<Response> {
    const { signal, onStart } = options
    signal.throwIfAborted()
    refuseOtherSchemes(request, 'data')
    onStart()
    // Node's fetch reads the URL by the rules of browsers, and opens no connection for it.
    const answer = await fetch(request.url, { signal }).catch((cause: unknown) => {
      signal.throwIfAborted()
      throw new DownloadError(
        'ResponseDecodeError',
        `${beginningOf(request.url)} is not a data: URL that can be read`,
        {
          cause,
        },
      )
    })
    const body = new Uint8Array(await answer.arrayBuffer())
    const bytesMax = bodyBytesMaxOf(request, this.#bodyBytesMax) || Infinity
    if (body.length > bytesMax) throw tooLarge(beginningOf(request.url), bytesMax)
    const headers = { 'content-type': answer.headers.get('content-type') ?? '' }
    return wholeAnswer(request, { headers, body }, options, this.#createResponse)
  }
}
