import type { Response } from '../requests/response.ts'
import type { Awaitable } from '../waiting/awaitable.ts'

/** What a pipeline learns about an item beside the item. */
export interface ItemContext {
  /**
   * What the item holds in ITEM_ID_FIELD, else request id and ordinal: the same again when the page is fetched again, as
   * far as the callback is deterministic.
   */
  readonly id: string
  /** Null for an item that `start()` yielded. */
  readonly response: Response | null
}

/** Gets each item in the order of ITEM_PIPELINES. `Item` is what the author knows of the items: nobody checks it. */
export interface ItemPipeline<Item = unknown> {
  /** Before anything is fetched. What it throws ends the crawl; `CloseSpider` gives the reason. */
  openSpider?(): Awaitable<void>
  /** The item to hand on to the next pipeline. Throwing `DropItem` ends its way; any other error is counted and logged. */
  processItem(item: Item, context: ItemContext): Awaitable<unknown>
  /** No item comes any more. `reason` is the `finish_reason`; waited for. */
  closeSpider?(reason: string): Awaitable<void>
}

/** Where items end up: a file, stdout, a bucket. Written to the operating system before the page is committed. */
export interface ItemFeed {
  /** What the user asked for, e.g. `quotes.jsonl`; for messages. */
  readonly uri: string
  /** Throws WL_OUTPUT_UNWRITABLE before anything is fetched. */
  open(): Promise<void>
  /** @param response of whose page they are, for messages; null for items that `start()` yielded */
  write(items: readonly unknown[], response?: Response | null): Promise<void>
  /** Completes the file. With the reason `not_opened` nothing was fetched, and it leaves what was there before. */
  close(reason: string): Promise<void>
}

/** Listens to signals; has no hooks of its own but one, called when the crawl is over. */
export interface Extension {
  /**
   * The crawl is over, and its stats are complete. Waited for, for COMPONENT_TIMEOUT at most; what it throws is logged.
   */
  close?(): Awaitable<void>
}
