/**
 * What is known of a crawl beside its requests, kept where its queue is kept: `running → finished | stopped`.
 *
 * A crawl that was stopped or killed goes on when it is run again; **a finished crawl is never begun again by merely
 * starting**. One that takes start URLs from outside goes on with those that came since. `start()` runs once for a crawl, by one worker at a time: what it yields before the cursor was dealt with.
 */
export interface CrawlRecord {
  /**
   * Takes part in the crawl, and returns what is known of it. Throws WL_JOBDIR_LOCKED when another process has a
   * crawl that is for one.
   */
  open(): Promise<CrawlPast>
  /** Lets go of what `open` took. */
  close(): Promise<void>
  /**
   * Resolves when this process may run `start()`, with the number of elements to pass over; it then keeps others from
   * running it until `startEnded`, `close`, or its death. Resolves with null when `start()` has ended, here or
   * elsewhere, or `signal` fires: there is nothing to run.
   */
  takeStart(signal: AbortSignal): Promise<number | null>
  /**
   * The elements `from` to `to` - 1 of `start()` are dealt with, and none of them was a request: a queue moves the cursor over
   * requests itself, in the step that stores them (`RequestQueue.pushStart`), and what moves it has one writer. Throws
   * WL_LEASE_LOST when another worker has taken `start()` over, or when the cursor lies before `from`, as the record has
   * come back with an older state: this worker must stop running it, and may ask `takeStart` again.
   */
  startMoved(from: number, to: number): Promise<void>
  /**
   * `start()` has yielded its last element, the `to`th: no later run calls it. Throws WL_LEASE_LOST as `startMoved`: elements
   * before it are missing.
   */
  startEnded(to: number): Promise<void>
  /**
   * Called when this worker has nothing to do. True when the whole crawl is done: `start()` has ended, and nothing is
   * waiting, delayed or leased by anybody, seen in one step that also ends the crawl for all workers. A text: the same, but
   * the crawl ends for that reason, as it has not done all that it should have; it can be resumed.
   */
  finish(): Promise<boolean | string>
  /** Whether this crawl has begun to write that output, so that a resumed run must not empty it. */
  outputBegun(path: string): Promise<boolean>
  /** Called when the output has been emptied, before the first item is in it. */
  beginOutput(path: string): Promise<void>
  /** This process leaves. `finished` ends the crawl; after any other reason it can be resumed. */
  ended(reason: string): Promise<void>
}

/** What a crawl has behind it. */
export interface CrawlPast {
  /** False for a crawl that nothing is known of: it begins now. */
  readonly begun: boolean
  /** When it finished; absent for one that goes on. */
  readonly finishedAt?: Date
  /** The queue, and the filter, may hold what is not this crawl's: it is emptied before anything is queued, by one worker. */
  readonly anew?: true
}
