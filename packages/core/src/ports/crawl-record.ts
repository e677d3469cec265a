/**
 * What is known of a crawl beside its requests, kept where its queue is kept: `running → finished | stopped`.
 *
 * A crawl that was stopped or killed goes on when it is run again; **a finished crawl never begins again by merely starting
 * it**. A crawl that takes start URLs from outside goes on with those that have come since. `start()` runs once for a
 * crawl, by one worker at a time; elements before the cursor are done.
 */
export interface CrawlRecord {
  /**
   * Takes part in the crawl, and resolves to what is known of it. Rejects with WL_JOBDIR_LOCKED when another process has a
   * crawl that only one may have. It may have to wait for workers of a crawl that is lost; when `signal` fires, it rejects with its reason,
   * and this process takes no part.
   */
  open(signal?: AbortSignal): Promise<CrawlPast>
  /** Lets go of what `open` took. */
  close(): Promise<void>
  /**
   * Resolves when this process may run `start()`, to the number of elements to skip. No other process runs it then until
   * `startEnded`, `close`, or this one's death. Resolves to null when there is nothing to run: `start()` has ended, here or
   * elsewhere, or `signal` fires.
   */
  takeStart(signal: AbortSignal): Promise<number | null>
  /**
   * Notes that the elements `from` to `to` - 1 of `start()` are done, none of which was a request. A queue moves the cursor
   * past requests itself, in the step that stores them (`RequestQueue.pushStart`), so each move has one writer. Rejects
   * with WL_LEASE_LOST when another worker has taken `start()` over, or when the cursor lies before `from`, as the record
   * has come back older. This worker must then stop running it, and may call `takeStart` again.
   */
  startMoved(from: number, to: number): Promise<void>
  /**
   * Notes that `start()` has yielded its last element, the `to`th, so that no later run calls it. Rejects with
   * WL_LEASE_LOST as `startMoved` does: elements before it are missing.
   */
  startEnded(to: number): Promise<void>
  /**
   * Called when this worker has nothing to do. Resolves to true when the whole crawl is done: `start()` has ended, and no
   * request is waiting, delayed or leased by any worker. One step checks that and ends the crawl for all workers. Resolves
   * to a text when the crawl ends for that reason, as it has not done all that it should have; it can then be resumed.
   */
  finish(): Promise<boolean | string>
  /** Resolves to whether this crawl has begun to write that output, so that a resumed run must not empty it. */
  outputBegun(path: string): Promise<boolean>
  /** Called when the output has been emptied, before the first item is in it. */
  beginOutput(path: string): Promise<void>
  /** Called when this process leaves. `finished` ends the crawl; after any other reason it can be resumed. */
  ended(reason: string): Promise<void>
}

/** What a crawl has done before. */
export interface CrawlPast {
  /** False for a crawl of which nothing is known: it begins now. */
  readonly begun: boolean
  /** When the crawl finished. Absent for one that goes on. */
  readonly finishedAt?: Date
  /** True when the crawl had finished, and goes on as another run: it comes back to its pages (RECRAWL). */
  readonly isNextRun?: true
  /** True when queue and filter may hold what is not this crawl's. One worker empties them before anything is queued. */
  readonly anew?: true
}
