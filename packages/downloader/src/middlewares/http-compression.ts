import {
  type Crawler,
  type DownloaderMiddleware,
  NotConfigured,
  type Request,
  type Response,
} from '@webloom/core'
import { ResponseDecoder, type ResponseDecoderOptions } from '../compression/response-decoder.ts'

export type HttpCompressionMiddlewareOptions = ResponseDecoderOptions

/** Tells servers which encodings are understood, and undoes them within bounds. */
export class HttpCompressionMiddleware implements DownloaderMiddleware {
  readonly #decoder: ResponseDecoder

  constructor(options: HttpCompressionMiddlewareOptions) {
    this.#decoder = new ResponseDecoder(options)
  }

  static fromCrawler({ settings, stats }: Crawler): HttpCompressionMiddleware {
    if (!settings.getBool('COMPRESSION_ENABLED')) throw new NotConfigured('COMPRESSION_ENABLED is false')
    return new this({
      bodyBytesMax: settings.getInt('DOWNLOAD_MAXSIZE'),
      encodingsMax: settings.getInt('DOWNLOAD_MAX_ENCODINGS'),
      ratioMax: settings.getFloat('DOWNLOAD_MAX_RATIO'),
      stats,
    })
  }

  processRequest(request: Request): void {
    if (!request.headers.has('accept-encoding'))
      request.headers.set('accept-encoding', 'gzip, deflate, br, zstd')
  }

  processResponse(request: Request, response: Response): Response | Promise<Response> {
    return this.#decoder.decoded(request, response)
  }
}
