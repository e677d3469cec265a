import { type ItemFeed, type Response, withDeadline } from '@webloom/core'
import { madeTooLate } from './storages/output-errors.ts'

export interface BatchedFeedOptions {
  /** The URI as the user wrote it, with the placeholders of the batch. */
  readonly uri: string
  /** How many items a batch has. */
  readonly itemCount: number
  /** Returns the feed of one batch; the first is 1. */
  readonly feedOf: (batchId: number) => ItemFeed
  /** Resolves to whether an earlier run of this crawl has begun that batch. */
  readonly isBegun: (batchId: number) => Promise<boolean>
  /** COMPONENT_TIMEOUT in milliseconds: the longest that items may take which come last. */
  readonly timeoutMs: number
}

/**
 * A feed that begins a new output after so many items (FEED_EXPORT_BATCH_ITEM_COUNT). A batch is completed when its last
 * item has come; the next one begins with the next item. A crawl that is resumed goes on in its last batch, which may then
 * get more items than others.
 */
export class BatchedFeed implements ItemFeed {
  readonly uri: string
  readonly #options: BatchedFeedOptions
  #batchId = 1
  #feed: ItemFeed | undefined
  #room: number
  /** Settles when all writes so far are done; never rejects. */
  #last: Promise<void> = Promise.resolve()

  constructor(options: BatchedFeedOptions) {
    this.uri = options.uri
    this.#options = options
    this.#room = options.itemCount
  }

  async open(): Promise<void> {
    while (await this.#options.isBegun(this.#batchId + 1)) this.#batchId++
    await this.#begin()
  }

  /** Writes one call after the other, so that a batch ends at its count. */
  write(items: readonly unknown[], response: Response | null = null): Promise<void> {
    const done = this.#last.then(() => this.#write(items, response))
    this.#last = done.catch(() => {})
    return done
  }

  async close(reason: string): Promise<void> {
    const { uri, timeoutMs } = this.#options
    await withDeadline(timeoutMs, this.#last, () => madeTooLate(uri, timeoutMs))
    await this.#feed?.close(reason)
  }

  async #write(items: readonly unknown[], response: Response | null): Promise<void> {
    for (let from = 0; from < items.length; ) {
      if (!this.#feed) await this.#begin()
      const batch = items.slice(from, from + this.#room)
      await this.#feed!.write(batch, response)
      from += batch.length
      this.#room -= batch.length
      if (this.#room === 0) await this.#complete()
    }
  }

  async #begin(): Promise<void> {
    const feed = this.#options.feedOf(this.#batchId)
    await feed.open()
    this.#feed = feed
    this.#room = this.#options.itemCount
  }

  async #complete(): Promise<void> {
    const feed = this.#feed
    this.#feed = undefined
    this.#batchId++
    // This batch gets no more items, however the crawl ends.
    await feed?.close('finished')
  }
}
