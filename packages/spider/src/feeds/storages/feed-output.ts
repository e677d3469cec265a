import type { FileHandle } from 'node:fs/promises'

/** Where a feed's text goes. An output knows nothing of items. */
export interface FeedOutput {
  /** Scrapy's name of the storage, or that of a user's class, in the counters `feedexport/success_count/…`. */
  readonly storage: string
  /** Where the items lie until the output is made of them; absent for one that is written as they come. */
  readonly spoolPath?: string
  /**
   * Prepares the output, but leaves no file: whether there will be one is not known yet. Throws WL_OUTPUT_UNWRITABLE.
   *
   * @param resume gets a file that is appended to and is not empty
   */
  open(resume: (file: FileHandle, size: number) => Promise<void>): Promise<void>
  /**
   * Resolves when the operating system has the text. Calls that overlap are written one after the other, whole, in the
   * order of the calls. Rejects with WL_OUTPUT_FAILED; after the first failure every call does.
   */
  write(text: string): Promise<void>
  /**
   * Completes the output. `createEmpty` decides whether there is one when no text was written.
   *
   * @param goesOn another run of the same crawl will write more
   * @param signal fires when nobody waits for it any more. An output that is not made by then is not made later either
   */
  close(createEmpty: boolean, goesOn?: boolean, signal?: AbortSignal): Promise<void>
}
