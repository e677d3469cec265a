import type { Request } from '../requests/request.ts'
import type { Response } from '../requests/response.ts'
import type { Awaitable } from '../waiting/awaitable.ts'

/** What a pipeline gets beside the item. */
export interface ItemContext {
  /**
   * The value of the item's ITEM_ID_FIELD, else request id and ordinal. It is the same when the page is fetched again, as
   * far as the callback is deterministic.
   */
  readonly id: string
  /** Null for an item that `start()` yielded. */
  readonly response: Response | null
}

/** A page that is gone. */
export interface GonePage {
  /** Its URL, as it was requested. */
  readonly url: string
  /** The request's id, with which the ids of the page's items begin. */
  readonly id: string
  /** The request with which it was asked for. */
  readonly request: Request
}

/** Gets each item in the order of ITEM_PIPELINES. `Item` is the author's type of the items, which is not checked. */
export interface ItemPipeline<Item = unknown> {
  /** Called before any page is fetched. An error ends the crawl; that of `CloseSpider` gives the reason. */
  openSpider?(): Awaitable<void>
  /** Returns the item for the next pipeline. `DropItem` drops the item; any other error is counted and logged. */
  processItem(item: Item, context: ItemContext): Awaitable<unknown>
  /**
   * With RECRAWL: called when a page that was visited before has answered twice in a row that it is gone (404, 410), so that what is kept of
   * it can be marked or removed. Awaited. A worker that is killed may have it called a second time.
   */
  gone?(page: GonePage): Awaitable<void>
  /** Called when no item comes any more, with the `finish_reason`. Awaited. */
  closeSpider?(reason: string): Awaitable<void>
}

/** An output of items: a file, stdout, a bucket. Items are written to the operating system before their page is committed. */
export interface ItemFeed {
  /** The output as the user wrote it, e.g. `quotes.jsonl`, for messages. */
  readonly uri: string
  /** Throws WL_OUTPUT_UNWRITABLE before any page is fetched. */
  open(): Promise<void>
  /** @param response the page that the items came from, for messages; null for items of `start()` */
  write(items: readonly unknown[], response?: Response | null): Promise<void>
  /** Completes the file. The reason `not_opened` means that no page was fetched; then the old file stays. */
  close(reason: string): Promise<void>
}

/** Listens to signals. Its only hook is called when the crawl is over. */
export interface Extension {
  /** Called when the crawl is over and its stats are complete. Awaited for COMPONENT_TIMEOUT at most; an error is logged. */
  close?(): Awaitable<void>
}
