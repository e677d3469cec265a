import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import type { BodyEncoding, PagePlace } from '../graph/options.ts'
import type { Site } from '../graph/urls.ts'
import { pageHtml } from './page-html.ts'

/** Finished bodies of pages, made on demand; those not asked for the longest go first. */
export class Bodies {
  readonly #site: Site
  readonly #bytesMax: number
  /** A Map remembers the order of insertion, so its first entry is the one to drop. */
  readonly #kept = new Map<string, Buffer>()
  #bytes = 0

  constructor(site: Site, bytesMax: number) {
    this.#site = site
    this.#bytesMax = bytesMax
  }

  of(place: PagePlace, encoding: BodyEncoding): Buffer {
    const key = `${place.host}/${place.page}/${encoding}`
    const kept = this.#kept.get(key)
    if (kept !== undefined) {
      this.#kept.delete(key)
      this.#kept.set(key, kept)
      return kept
    }
    const body = encode(Buffer.from(pageHtml(place, this.#site)), encoding)
    this.#keep(key, body)
    return body
  }

  #keep(key: string, body: Buffer): void {
    this.#kept.set(key, body)
    this.#bytes += body.length
    for (const [oldest, dropped] of this.#kept) {
      if (this.#bytes <= this.#bytesMax) return
      this.#kept.delete(oldest)
      this.#bytes -= dropped.length
    }
  }
}

/** The name of an encoding in `Content-Encoding` and `Accept-Encoding`. */
export function codingOf(encoding: BodyEncoding): string {
  return encoding === 'deflate-raw' ? 'deflate' : encoding
}

/** True when an `Accept-Encoding` header allows the coding. Without the header only `identity` is sent. */
export function accepts(acceptEncoding: string | undefined, coding: string): boolean {
  if (coding === 'identity') return true
  const offers = (acceptEncoding ?? '').toLowerCase().split(',')
  const weights = new Map(
    offers.map((offer) => [offer.split(';')[0]!.trim(), !/;\s*q=0(\.0*)?\s*$/.test(offer)]),
  )
  return weights.get(coding) ?? weights.get('*') ?? false
}

export function encode(body: Buffer, encoding: BodyEncoding): Buffer {
  switch (encoding) {
    case 'identity':
      return body
    case 'gzip':
      return gzipSync(body)
    case 'deflate':
      return deflateSync(body)
    case 'deflate-raw':
      return deflateRawSync(body)
    case 'br':
      // What servers use for pages made on demand; the default, 11, takes milliseconds a page.
      return brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })
    case 'zstd':
      return zstdCompressSync(body)
  }
}
