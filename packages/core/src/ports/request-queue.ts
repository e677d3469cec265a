import type { Request } from '../requests/request.ts'
import type { FailureLedger, GivenUp } from './failure-ledger.ts'
import type { DocumentPace, HostNews, HostOrders, HostState } from './host-clock.ts'
import type { KeptVisits, VisitedPage } from './visit-store.ts'

/** A request with the id under which the crawl knows it: its fingerprint, or a hash of parent and ordinal. */
export interface QueuedRequest {
  readonly id: string
  readonly request: Request
  /**
   * Set for a link in doubt: another asker was told that it is new, and may not queue it. The value is the asker that has found
   * the link since. `push`, `pushStart` and `commit` set such a link aside, in the step that stores the others: it is in no
   * line, counts as delayed, and stays until `doubts.end`. Of two with the same id the first one stays.
   */
  readonly inDoubt?: string
}

/** A link in doubt for which the filter throws. */
export interface FailedDoubt extends QueuedRequest {
  readonly reason: string
}

/** A request of one element of `start()`. */
export interface StartRequest extends QueuedRequest {
  readonly element: number
}

/** How many elements of `start()` are queued in one step. */
export const START_BATCH_MAX = 256

/**
 * A request that is handed out to be fetched now. Its holder ends the lease by one of `commit`, `retry`, `requeue` and `reject`.
 * A lease that its holder does not end is lost, and the request is handed out again.
 */
export interface Lease extends QueuedRequest {
  /** The line that the request came from, in which its host's pace is kept. */
  readonly slot: string
  /** 1 at the first hand-out. A lost lease raises it; `retry` and `requeue` do not. Where its worker stopped, it is 2 at least. */
  readonly attempt: number
  /** True when an earlier lease of it was lost, so that it may have been fetched before. */
  readonly redelivered: boolean
  /** What was known of its host when it was handed out. */
  readonly host: HostState
  /** True when a delay lies between two requests to its host, by the settings or as was learned. */
  readonly isPaced: boolean
  /** Fires when the lease is lost: another worker has the request, and `commit` will throw WL_LEASE_LOST. */
  readonly signal: AbortSignal
  /**
   * Tells the queue that the request leaves for the host at this very moment: it is written before the caller awaits anything.
   * The host's pace is counted from there, not from the hand-out. A request that never leaves (filtered by a middleware) costs
   * its host no delay.
   */
  started(): void
  /**
   * Returns when the documents of the page may leave: those that a browser opens for it. A request that has not left yet is the
   * first of them from now on. Until it asks, documents of other pages do not wait for it.
   */
  documents(): DocumentPace
}

/** What a commit stores beside the end of the page. */
export interface CommitOptions {
  /** New requests found on the page, in order. Stored in the same step that removes the page. */
  readonly children?: readonly QueuedRequest[]
  /** What the page has taught about its host; known to all workers in the same step. */
  readonly host?: HostNews
  /** Why the request was given up. Written to the ledger of failures in the same step; nothing when FAILED_MAX is 0. */
  readonly failure?: GivenUp
  /** The visit of the page, which puts it at its next hour in the same step. Only where the queue has `visits`. */
  readonly visit?: VisitedPage
}

/**
 * When a retried request is handed out again: at the earliest after this many milliseconds, behind the requests that wait by
 * then; or `first`, before all others of its host and priority. `first` is for a request that was not tried: it keeps its place.
 */
export type RetryWhen = number | 'first'

/** Requests in each state of the queue. */
export interface QueueCounts {
  /** May go as soon as its host may be asked. */
  readonly waiting: number
  /** Held until its own time has come (a retry's back-off), or set aside in doubt. */
  readonly delayed: number
  readonly leased: number
  /** In quarantine: they killed every worker that took them, or every worker rejected them. They do not hold a crawl open. */
  readonly quarantined: number
}

/** How many requests of one host the queue counts as in flight for one worker. */
export interface InFlight {
  readonly slot: string
  readonly count: number
  /** The worker in whose name they are. */
  readonly holder: string
}

/** A slot and how much waits for it. */
export interface QueuedSlot {
  /** The line’s name: a host, domain or address, or `meta.download_slot`. */
  readonly slot: string
  /** Requests that wait, as many as this worker knows of. */
  readonly waiting: number
}

/** A slot at one moment, of a queue that nobody shares. */
export interface SlotNow extends HostState {
  readonly waiting: number
  /** Requests that are held until their own time has come. */
  readonly delayed: number
  readonly leased: number
  /** Milliseconds until its host may be asked again; 0: now, or when one in flight has ended. */
  readonly nextInMs: number
}

/** What a worker holds of a shared queue. */
export interface QueueHeld {
  /** Slots of which something is here, in flight, or waits behind. */
  readonly heldHosts: number
  /** How long the slot that takes longest takes at least, at its delay, milliseconds; 0: no slot has a delay. */
  readonly longestMs: number
  /** Its name; '' for none. */
  readonly longestHost: string
  /** How many requests wait here to be fetched alone, or are, as one of them may have killed a worker. */
  readonly suspects: number
}

/** The links in doubt that a queue has set aside. */
export interface LinkDoubts {
  /**
   * Resolves to up to `max` links in doubt that should be asked about now. No other worker gets them for some seconds; after that
   * another one may, so a worker that dies with them costs only these seconds.
   */
  take(max: number): Promise<readonly QueuedRequest[]>
  /**
   * Ends the doubt about links, in one step. Returns the ids that were queued; a command that is sent twice returns the same.
   *
   * - `fresh` go to the ends of their hosts' lines. An id that is no longer set aside is not queued.
   * - `seen` are deleted.
   * - `still` are in doubt as before, and may be taken again at once.
   * - `failed` are quarantined: the filter throws for them.
   *
   * A link that is set aside again within half a minute after it was queued here stays queued, and is not set aside.
   */
  end(
    fresh: readonly QueuedRequest[],
    seen: readonly string[],
    still?: readonly string[],
    failed?: readonly FailedDoubt[],
  ): Promise<readonly string[]>
}

/**
 * The requests that wait to be fetched, and those that workers hold. `lease` obeys the hosts' pace: politeness is part of
 * leasing. This port is internal: no setting takes a queue of a user's own.
 */
export interface RequestQueue {
  /** True when another worker is known to have nothing to do. Absent: that cannot be known. */
  readonly othersAreHungry?: boolean
  open(): Promise<void>
  /** Closes connections and timers. Waiting requests stay, and leases go back to the queue. */
  close(): Promise<void>
  /** Deletes everything that waits. The last worker that leaves a crawl calls this after `close`. */
  clear(): Promise<void>
  /**
   * Deletes what nobody needs of a crawl that has finished and stays (SCHEDULER_PERSIST). The last worker that leaves calls this
   * after `close`. Absent: nothing is left then.
   */
  crawlEnded?(): Promise<void>
  /**
   * From now on calls `listener` when the queue's store has come back older and has lost links that this worker had queued: with their
   * askers. Links that other workers have queued are not told of. Absent where that cannot be known.
   */
  onAskersLost?(listener: (askers: readonly string[]) => void): void
  /** Returns the queue's name and order, for the start banner. */
  describe(): { readonly name: string; readonly order: QueueOrder }
  /**
   * Adds requests to the end of their hosts' lines. Returns how many were new. The ids are noted under `asker` until
   * `settled(asker)`, so that a push repeated after a crash or a lost reply adds nothing.
   *
   * A queue that is kept beside the crawl's record notes an asker `start/<n>` by moving the start cursor to n + 1, in the step
   * that stores the requests. A push by an element before the cursor adds nothing. A push by an element after the cursor, so
   * that elements between are missing, throws WL_LEASE_LOST where the record can come back older. A push to a crawl that has
   * finished meanwhile throws WL_LEASE_LOST, too, where other workers can have ended it.
   */
  push(batch: readonly QueuedRequest[], asker: string): Promise<number>
  settled(asker: string): Promise<void>
  /**
   * Adds the requests that the elements `from` to `to` - 1 of `start()` brought, START_BATCH_MAX elements at the most. Returns
   * how many were added. A queue that is kept beside the crawl's record moves the start cursor to `to` in the same step, and
   * passes over elements before the cursor, which were added earlier. Throws WL_LEASE_LOST when the cursor lies before `from`:
   * the queue's store has come back older, and `start()` must run again from the cursor.
   */
  pushStart(batch: readonly StartRequest[], from: number, to: number): Promise<number>
  /**
   * Resolves to the leases of up to `max` requests that may go right now. Waits while no request may go, and resolves to none
   * when no request can come any more (none is waiting, delayed or leased), when `signal` fires, or after LEASE_WAIT_MS_MAX. A
   * host that must wait never holds up another.
   */
  lease(max: number, signal?: AbortSignal): Promise<Lease[]>
  /**
   * Called before something is done in the name of a lease that a refused commit would not undo. Returns undefined while no other
   * worker can have the lease, by this worker's own clock. Otherwise this worker has stood still, or could not reach the store, for as
   * long as a lock lasts: others may have taken its requests over, and may have ended the crawl. Then a function is returned that
   * renews the lease; it rejects with WL_LEASE_LOST when the lease is lost. Absent where no lease runs out.
   */
  confirm?(lease: Lease): (() => Promise<void>) | undefined
  /** The request is done and its children are queued, in one step. Throws WL_LEASE_LOST for a lost lease. */
  commit(lease: Lease, options?: CommitOptions): Promise<void>
  /**
   * The request goes back, changed, and is handed out again as `when` says. Of several that go back `first`, the one that was
   * retried first is handed out first.
   */
  retry(lease: Lease, request: Request, when: RetryWhen, host?: HostNews): Promise<void>
  /** The request goes back unharmed to the head of its line: this worker has not tried it. */
  requeue(lease: Lease): Promise<void>
  /**
   * This worker cannot do the request and another one may: this worker lacks the callback, or is of an older release. The
   * request is handed out again after a while. After REJECTIONS_MAX rejections, when every worker that is present has rejected
   * it, the request is quarantined with `reason`; or, where a visit is given, that is recorded in its place, and the page is back on its
   * schedule: resolves to true then.
   */
  reject(lease: Lease, reason: string, visit?: VisitedPage): Promise<boolean>
  /** The links in doubt that this queue has set aside. */
  readonly doubts: LinkDoubts
  /** The requests that were given up. `clear` leaves them. */
  readonly failures: FailureLedger
  /** When the pages were visited, and are due again. Absent in a crawl that does not come back to its pages. */
  readonly visits?: KeptVisits
  /** Returns all counts of one moment, so that a request on its way from one state to another is counted once. */
  counts(): Promise<QueueCounts>
  /**
   * Takes all orders for hosts that there are now, in place of those before. They count from the next start of a request on. What
   * one call cannot tell the store, the next one does.
   */
  steer(orders: HostOrders): Promise<void>
  /** Returns slots of which something waits, those with the most first, `most` of them at the most, as far as this worker knows. */
  mostQueued(most: number): readonly QueuedSlot[]
  /**
   * One slot at this moment; undefined for one of which nothing waits or is in flight. Absent where workers share slots: the store
   * is asked.
   */
  slotNow?(slot: string): SlotNow | undefined
  /** Returns what this worker holds at this moment, for displays. Absent: not known. */
  held?(): QueueHeld
  /**
   * Resolves to the requests that the queue's store counts as in flight for this worker. The worker itself may not know of them: a
   * worker that holds nothing and finds some here logs a warning. Absent where store and worker are one process, and where each
   * request has a lock of its own that runs out when nobody renews it (QUEUE_MODE=job).
   */
  inFlight?(): Promise<readonly InFlight[]>
  /**
   * Resolves to whether no request is waiting, delayed or leased by any worker. A shared queue may return false from what it heard some
   * seconds ago, so that idle workers may ask often; but it asks its store when this worker may have done the last request.
   */
  isEmpty(): Promise<boolean>
}

/** Order within a host: by priority and then first come, first come, or last come. */
export type QueueOrder = 'priority' | 'fifo' | 'lifo'

/** Milliseconds after which `lease` resolves even to none, so that its caller can look for a pause or a stop. */
export const LEASE_WAIT_MS_MAX = 1000

/** After this many rejections in a row a request is quarantined: no release that can do it seems to be running. */
export const REJECTIONS_MAX = 10
