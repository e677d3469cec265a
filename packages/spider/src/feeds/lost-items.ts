import { type Logger, type Response, type StatsCollector, WebloomError } from '@webloom/core'
import { UnwritableItem } from '../scraping/written-item.ts'
import type { FormatReports } from './formats/item-format.ts'

export interface LostItemsOptions {
  /** The output's URI, as the user wrote it. */
  readonly uri: string
  readonly logger: Logger
  readonly stats?: StatsCollector | undefined
  readonly onLost?: ((item: unknown, error: unknown) => void) | undefined
}

/** Logs items that one feed could not write, with the page that they came from, and counts them. */
export class LostItems implements FormatReports {
  readonly uri: string
  readonly logger: Logger
  readonly #options: LostItemsOptions
  /** The page whose items are being written. */
  #response: Response | null = null
  #count = 0

  constructor(options: LostItemsOptions) {
    this.uri = options.uri
    this.logger = options.logger
    this.#options = options
  }

  /** Calls `makeText` for items of that page, and returns how many of them it lost. */
  while(response: Response | null, makeText: () => void): number {
    this.#response = response
    this.#count = 0
    try {
      makeText()
    } finally {
      this.#response = null
    }
    return this.#count
  }

  lost(item: unknown, error: unknown): void {
    const { uri, logger, stats, onLost } = this.#options
    const request = this.#response?.hasRequest ? this.#response.request : undefined
    logger.error(
      {
        feed: uri,
        ...(request && { url: request.url, callback: request.callback ?? 'parse' }),
        // The stack of our own finding shows our insides alone.
        ...(error instanceof UnwritableItem || error instanceof WebloomError
          ? { reason: error.message }
          : { err: error }),
      },
      'an item cannot be written; it is lost to this feed, the others are not',
    )
    stats?.inc('feedexport/unserializable_count')
    this.#count++
    onLost?.(item, error)
  }
}
