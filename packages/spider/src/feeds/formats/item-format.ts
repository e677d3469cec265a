import type { FileHandle } from 'node:fs/promises'
import type { Logger } from '@webloom/core'

/** Makes text of items. A format does not know where the text goes. */
export interface ItemFormat {
  /**
   * Prepares a file that is not empty and is appended to: reads its header, and repairs an end that a kill has torn. Throws
   * with the reason when nothing can be appended to this file.
   */
  resume(file: FileHandle, size: number): Promise<void>
  /** Returns complete records; `''` when no item could be written. Never throws for an item: it reports the item as lost. */
  text(items: readonly unknown[]): string
  /** Returns the text that completes the output when the crawl ends. */
  end(): string
}

/** What a format reports while it works. */
export interface FormatReports {
  /** The output's URI, as the user wrote it. */
  readonly uri: string
  readonly logger: Logger
  /** Reports an item that this format cannot write. The other items of its batch are written. */
  lost(item: unknown, error: unknown): void
}
