/**
 * What is known of a crawl beside its requests, kept where its queue is kept: `running → finished | stopped`.
 *
 * A crawl that was stopped or killed goes on when it is run again; **a finished crawl is never begun again by merely
 * starting**. `start()` runs once for a crawl: what a resumed run of it yields before the cursor is dealt with.
 */
export interface CrawlRecord {
  /**
   * Takes the crawl for this process, and answers what earlier runs of it left. Throws WL_JOBDIR_LOCKED when another
   * process has it.
   */
  open(): Promise<CrawlPast>
  /** Lets go of what `open` took. */
  close(): Promise<void>
  /**
   * The first `cursor` elements of `start()` are queued or written. A queue kept in the same place moves the cursor
   * itself, in the step that stores the requests of owner `start/<n>`; then this has nothing left to do.
   */
  startMoved(cursor: number): Promise<void>
  /** `start()` has yielded its last element: no later run calls it. */
  startEnded(): Promise<void>
  /** Whether this crawl has begun to write that output, so that a resumed run must not empty it. */
  outputBegun(path: string): Promise<boolean>
  /** Called when the output has been emptied, before the first item is in it. */
  beginOutput(path: string): Promise<void>
  /** The run is over. `finished` ends the crawl; after any other reason it can be resumed. */
  ended(reason: string): Promise<void>
}

/** What a crawl has behind it. */
export interface CrawlPast {
  /** False for a crawl that nothing is known of: it begins now. */
  readonly begun: boolean
  /** When it finished; absent for one that goes on. */
  readonly finishedAt?: Date
  /** Elements of `start()` that were dealt with. */
  readonly startCursor: number
  readonly startEnded: boolean
}
