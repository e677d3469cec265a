import type { Request } from '../requests/request.ts'
import type { HostNews, HostState } from './host-clock.ts'

/** A request with the id under which the crawl knows it: its fingerprint, or a hash of parent and ordinal. */
export interface QueuedRequest {
  readonly id: string
  readonly request: Request
  /**
   * Of a link that another asker was told is new, and may not queue: the asker that has met it since. `push`, `pushStart` and `commit` set it aside, in
   * the step that stores the others: it is in nobody's line, counts as delayed, and stays until `doubts.end`. The same id
   * twice is one, the first.
   */
  readonly inDoubt?: string
}

/** A link in doubt of which the filter cannot say whether it is new. */
export interface FailedDoubt extends QueuedRequest {
  readonly reason: string
}

/** What an element of `start()` brought. */
export interface StartRequest extends QueuedRequest {
  readonly element: number
}

/** Elements of `start()` that are queued in one step. */
export const START_BATCH_MAX = 256

/**
 * A request handed out to be fetched now. It comes back to the queue unless it is committed, retried, requeued or rejected.
 */
export interface Lease extends QueuedRequest {
  /** The host's line it came from: politeness is counted there. */
  readonly slot: string
  /** 1 at the first hand-out. Taking back a lost lease raises it; `retry` and `requeue` do not. */
  readonly attempt: number
  /** True when an earlier lease of it was lost, so that it may have been fetched before. */
  readonly redelivered: boolean
  /** What was known of its host when it was handed out. */
  readonly host: HostState
  /** Fires when the lease is lost: another worker has it, and `commit` will be refused with WL_LEASE_LOST. */
  readonly signal: AbortSignal
  /**
   * Tells the queue that the request leaves for the host at this very moment. The host's pace is counted from here,
   * not from the hand-out. A request that never leaves (filtered by a middleware) costs its host no delay.
   */
  started(): void
}

/** What goes along with the end of a page. */
export interface CommitOptions {
  /** New requests found on the page, in order. Stored in the same step that removes the page. */
  readonly children?: readonly QueuedRequest[]
  /** What the page has taught about its host; known to all workers in the same step. */
  readonly host?: HostNews
}

/**
 * When a request that goes back is handed out again: so many milliseconds from now at the earliest, behind what waits by then,
 * or `first`, before all others of its host and priority. The latter is for one that has not been tried: it keeps its place.
 */
export type RetryWhen = number | 'first'

/** Requests in each state of the queue. */
export interface QueueCounts {
  /** May go as soon as its host may be asked. */
  readonly waiting: number
  /** Held until its own time has come (a retry's back-off), or set aside in doubt. */
  readonly delayed: number
  readonly leased: number
  /** Set aside: it killed every worker that took it, or this release cannot read it. Does not hold a crawl open. */
  readonly quarantined: number
}

/** Requests of one host that the queue has in flight. */
export interface InFlight {
  readonly slot: string
  readonly count: number
  /** The worker in whose name they are. */
  readonly holder: string
}

/** Links in doubt that a queue has set aside: taken to be asked about, and ended. */
export interface LinkDoubts {
  /**
   * Up to `max` requests that were set aside in doubt and should be asked about now. Whoever takes one has it to itself for
   * some seconds; then it is another's, so that a worker that dies with it costs no more than that.
   */
  take(max: number): Promise<readonly QueuedRequest[]>
  /**
   * The doubt about these is over: `fresh` go to the ends of their hosts' lines, `met` go. In one step; an id that was set
   * aside no longer queues nothing. Returns the ids that were queued; a command that is sent twice answers the same. `still`
   * are in doubt as before: they need not wait until whoever took them would have died. One that is set aside within half a
   * minute of being queued here is passed over: it is queued. `failed` are quarantined: the filter throws for them.
   */
  end(
    fresh: readonly QueuedRequest[],
    met: readonly string[],
    still?: readonly string[],
    failed?: readonly FailedDoubt[],
  ): Promise<readonly string[]>
}

/**
 * What waits to be fetched, and who holds it. Handing out obeys the hosts' pace: politeness is part of leasing. Ours alone: no
 * setting takes one of a user's own.
 */
export interface RequestQueue {
  open(): Promise<void>
  /** Lets go of connections and timers. What waits stays where it is, leases come back. */
  close(): Promise<void>
  /** Deletes everything that waits. The last worker that leaves a crawl calls it after `close`. */
  clear(): Promise<void>
  /** Names the queue in the start banner. */
  describe(): { readonly name: string; readonly order: QueueOrder }
  /**
   * Adds requests to the end of their hosts' lines. The ids are noted under `asker` until `settled(asker)`, so that
   * a push repeated after a crash or a lost reply adds nothing. Returns how many were new. A queue kept beside the
   * crawl's record notes an asker `start/<n>` by moving the start cursor to n + 1, in the step that stores the requests;
   * a push by a `start/<n>` that lies before the cursor adds nothing, and one that lies behind it, so that others are
   * missing, throws WL_LEASE_LOST where the record can come back with an older state.
   */
  push(batch: readonly QueuedRequest[], asker: string): Promise<number>
  settled(asker: string): Promise<void>
  /**
   * Adds what the elements `from` to `to` - 1 of `start()` brought, START_BATCH_MAX of them at the most. A queue kept beside
   * the crawl's record moves the start cursor to `to` in the same step, and passes over what lies before the cursor: it was
   * added before. Throws WL_LEASE_LOST when the cursor lies before `from`: what keeps the queue has gone back, and
   * `start()` is to be run again from there. Returns how many were added.
   */
  pushStart(batch: readonly StartRequest[], from: number, to: number): Promise<number>
  /**
   * Up to `max` requests that may go right now, at most one lease each. Waits while nothing may go, and answers
   * with none when nothing can come any more (nothing waiting, delayed or leased), when `signal` fires, or after
   * LEASE_WAIT_MAX_MS at the latest. A host that must wait never holds up another.
   */
  lease(max: number, signal?: AbortSignal): Promise<Lease[]>
  /** The request is done and its children are queued, in one step. Throws WL_LEASE_LOST for a lost lease. */
  commit(lease: Lease, options?: CommitOptions): Promise<void>
  /** The request goes back, changed, and is handed out again as `when` says. Of several that go back first, the one whose end is told first goes first. */
  retry(lease: Lease, request: Request, when: RetryWhen, host?: HostNews): Promise<void>
  /** The request goes back unchanged to the head of its line: this worker will not do it. */
  requeue(lease: Lease): Promise<void>
  /**
   * This worker cannot do the request and another may: it has no such callback, or is of an older release. It is handed
   * out again after a while, and is quarantined with `reason` after REJECTIONS_MAX rejections, when no worker that is present
   * could do it.
   */
  reject(lease: Lease, reason: string): Promise<void>
  /** The links in doubt that it has set aside. */
  readonly doubts: LinkDoubts
  /** All four in one step, so that their sum never misses a request on its way from one to another. */
  counts(): Promise<QueueCounts>
  /**
   * What is in flight in this worker's name, as whatever keeps the queue has it: a worker that has nothing in hand and finds
   * something here warns. It need not know of these. Absent where both are one, and where a lock of each request's own runs
   * out when nobody renews it (QUEUE_MODE=job).
   */
  inFlight?(): Promise<readonly InFlight[]>
  /**
   * Whether nothing is waiting, delayed or leased by anybody. A queue that is shared may answer false by what it heard some
   * seconds ago, so that whoever has nothing to do may ask often; but not to the one that has just done the last of it.
   */
  isEmpty(): Promise<boolean>
}

/** Order within a host: by priority and then first come, first come, or last come. */
export type QueueOrder = 'priority' | 'fifo' | 'lifo'

/** Milliseconds after which `lease` answers even with none, so that its caller can look around. */
export const LEASE_WAIT_MAX_MS = 1000

/** After this many rejections in a row a request is quarantined: no release that knows it seems to be running. */
export const REJECTIONS_MAX = 10
