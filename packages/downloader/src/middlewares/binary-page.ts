import {
  type Crawler,
  type DownloaderMiddleware,
  type Logger,
  protectionStat,
  type Request,
  type Response,
  type StatsCollector,
} from '@webloom/core'

export interface BinaryPageMiddlewareOptions {
  readonly stats: StatsCollector
  readonly logger: Logger
}

/**
 * Flags an answer `binary` when its Content-Type says a page, or nothing, and its body is a picture, an archive or a
 * program. The callback gets it, but finds no links or elements in it.
 */
export class BinaryPageMiddleware implements DownloaderMiddleware {
  readonly #options: BinaryPageMiddlewareOptions

  constructor(options: BinaryPageMiddlewareOptions) {
    this.#options = options
  }

  static fromCrawler({ stats, logger }: Crawler): BinaryPageMiddleware {
    return new this({ stats, logger })
  }

  processResponse(_: Request, response: Response): Response {
    if (!isSaidToBePage(response) || !isBinary(response.head)) return response
    const { stats, logger } = this.#options
    stats.inc(protectionStat('binary_page'))
    logger.warn(
      { url: response.url },
      'sent as a page, but its content is binary; no links are extracted from it',
    )
    return response.replace({ flags: [...response.flags, 'binary'] })
  }
}

const PAGE = /^\s*(?:text\/html|application\/xhtml\+xml)\b/i
// Bodies in these charsets are decoded, not examined.
const WIDE_CHARSET = /charset\s*=\s*["']?(?:utf-?16|utf-?32|ucs-?2|unicode)/i

function isSaidToBePage({ headers }: Response): boolean {
  // A body in an encoding that was not undone cannot be examined.
  if (headers.has('content-encoding')) return false
  const contentType = headers.get('content-type')
  return contentType === null || (PAGE.test(contentType) && !WIDE_CHARSET.test(contentType))
}

// How binary files begin (MIME Sniffing Standard §6).
const SIGNATURES = [
  '\x89PNG\r\n',
  'GIF8',
  '\xff\xd8\xff',
  'PK\x03\x04',
  '\x1f\x8b',
  '%PDF-',
  'OggS\0',
  'ID3',
  'Rar!\x1a',
  '\x7fELF',
  '\0asm',
]

const SNIFFED_BYTES = 1024
// A tenth of random bytes are ones that no text has.
const BINARY_SHARE = 0.05
// A page may hold one or two by mistake.
const BINARY_BYTES_MIN = 3

// The standard's "binary data byte" without zero: UTF-16 without a byte order mark is full of zeros, and is guessed later.
// Tab, line feed, form feed, return, and the escape that Japanese mail encodings use are text.
const NO_TEXT = /[\x01-\x08\x0b\x0e-\x1a\x1c-\x1f]/g

function isBinary(head: string): boolean {
  if (SIGNATURES.some((signature) => head.startsWith(signature))) return true
  const bytes = head.slice(0, SNIFFED_BYTES)
  const binary = bytes.match(NO_TEXT)?.length ?? 0
  return binary >= BINARY_BYTES_MIN && binary >= bytes.length * BINARY_SHARE
}
