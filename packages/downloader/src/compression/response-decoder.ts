/** Unpacks the bodies of responses within bounds: a bomb is cut off while it unpacks. */

import {
  bodyBytesMaxOf,
  DownloadError,
  protectionStat,
  type Request,
  type Response,
  type StatsCollector,
} from '@webloom/core'
import { contentCoding } from './content-coding.ts'
import { DecompressesTooFar, Decompressor } from './decompressor.ts'

export interface ResponseDecoderOptions {
  /** DOWNLOAD_MAXSIZE: bytes of the body after each encoding is undone. 0: no bound. */
  readonly bodyBytesMax: number
  /** DOWNLOAD_MAX_ENCODINGS: how many encodings a body may have. Default 3. */
  readonly encodingsMax?: number
  /** DOWNLOAD_MAX_RATIO: how many times its size a body may become. Default 200; 0: no bound. */
  readonly ratioMax?: number
  readonly stats: StatsCollector
}

// Up to this size an honest page may shrink by any factor; a bomb must be larger to do harm.
const RATIO_FREE_BYTES = 8_388_608

/** Undoes the encodings of responses that it knows. */
export class ResponseDecoder {
  readonly #bytesMax: number
  readonly #encodingsMax: number
  readonly #ratioMax: number
  readonly #stats: StatsCollector
  readonly #decompressor = new Decompressor()

  constructor(options: ResponseDecoderOptions) {
    this.#bytesMax = options.bodyBytesMax
    this.#encodingsMax = options.encodingsMax ?? 3
    this.#ratioMax = options.ratioMax ?? 200
    this.#stats = options.stats
  }

  /** Returns the response with its body unpacked. Rejects with `DownloadError` for a body that is too large, or not encoded as its header says. */
  decoded(request: Request, response: Response): Response | Promise<Response> {
    const { headers, body } = response
    if (!headers.has('content-encoding') || request.method === 'HEAD' || body.length === 0) return response
    return this.#decoded(request, response, encodingsIn(headers.getAll('content-encoding')))
  }

  async #decoded(request: Request, response: Response, encodings: readonly string[]): Promise<Response> {
    try {
      return await this.#undone(request, response, encodings)
    } catch (error) {
      if (error instanceof DownloadError && error.reason) this.#stats.inc(protectionStat(error.reason))
      throw error
    }
  }

  async #undone(request: Request, response: Response, encodings: readonly string[]): Promise<Response> {
    if (encodings.length > this.#encodingsMax) {
      const message = `${request}: encoded ${encodings.length} times; DOWNLOAD_MAX_ENCODINGS is ${this.#encodingsMax}`
      throw new DownloadError('ResponseDecodeError', message, { reason: 'encoding_chain' })
    }
    const limit = this.#limitOf(request, response)
    let body: Uint8Array = response.body
    const left = [...encodings]
    while (left.length > 0) {
      const coding = contentCoding(left.at(-1)!, body)
      // A body in an unknown encoding is left to the callback, with the header that names the encoding.
      if (!coding) break
      const encoding = left.pop()!
      try {
        body = await this.#decompressor.decompress(coding, body, limit.bytes)
      } catch (cause) {
        throw cause instanceof DecompressesTooFar
          ? tooFar(request, response, limit)
          : notEncoded(request, encoding, cause as Error)
      }
    }
    if (left.length === encodings.length) return response
    this.#stats.inc('httpcompression/response_bytes', body.length)
    this.#stats.inc('httpcompression/response_count')
    const { headers } = response
    if (left.length > 0) headers.set('content-encoding', left.join(', '))
    else headers.delete('content-encoding')
    return response.replace({ body, headers })
  }

  #limitOf(request: Request, { body }: Response): DecompressionLimit {
    const bytesMax = orInfinite(bodyBytesMaxOf(request, this.#bytesMax))
    const byRatio = Math.max(RATIO_FREE_BYTES, body.length * orInfinite(this.#ratioMax))
    return byRatio < bytesMax
      ? {
          bytes: byRatio,
          reason: 'decompression_ratio',
          setting: `${this.#ratioMax} times as much (DOWNLOAD_MAX_RATIO)`,
        }
      : { bytes: bytesMax, reason: 'decompressed_size', setting: `DOWNLOAD_MAXSIZE, ${bytesMax} bytes` }
  }
}

interface DecompressionLimit {
  readonly bytes: number
  readonly reason: 'decompressed_size' | 'decompression_ratio'
  /** The setting that the message names. */
  readonly setting: string
}

function tooFar(
  request: Request,
  { body }: Response,
  { reason, setting }: DecompressionLimit,
): DownloadError {
  const message = `${request}: ${body.length} bytes decompress to more than ${setting}`
  return new DownloadError('DownloadTooLargeError', message, { reason })
}

function notEncoded(request: Request, encoding: string, cause: Error): DownloadError {
  const message = `${request}: the body is not ${encoding}: ${cause.message}`
  return new DownloadError('ResponseDecodeError', message, { cause, reason: 'bad_encoding' })
}

function encodingsIn(headers: readonly string[]): string[] {
  return headers
    .join(',')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity')
}

function orInfinite(limit: number): number {
  return limit > 0 ? limit : Number.POSITIVE_INFINITY
}
