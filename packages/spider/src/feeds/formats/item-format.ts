import type { FileHandle } from 'node:fs/promises'
import type { Logger } from '@webloom/core'

/** How items become text. Knows nothing of where the text goes. */
export interface ItemFormat {
  /**
   * Readies a file that holds something and is appended to: learns its header, mends an end that a kill has torn.
   * Throws with the reason when nothing can be appended to this file.
   */
  resume(file: FileHandle, size: number): Promise<void>
  /** Whole records; `''` when no item could be written. Never throws for an item: that one is reported as lost. */
  text(items: readonly unknown[]): string
  /** What completes the output when the crawl ends. */
  end(): string
}

/** What a format says while it works. */
export interface FormatReports {
  /** The output, as the user wrote it. */
  readonly uri: string
  readonly logger: Logger
  /** An item that this format cannot write. The others of its batch are written. */
  lost(item: unknown, error: unknown): void
}
