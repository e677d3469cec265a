/** How fast one host may be asked. */
export interface HostPace {
  /** The least time between the starts of two requests, milliseconds. */
  readonly delayMs: number
  /** The most requests in flight at once. 0: no bound. */
  readonly concurrency: number
  /** True: each delay is longer or shorter at random, by `jitter` at most, but never below the host's floor. */
  readonly randomize: boolean
  /** A share of `delayMs`, 0 to 1. Absent: 0.5, which is 0.5 to 1.5 times the delay. */
  readonly jitter?: number
  /** True: the delay was ordered by hand (`webloom host`). It counts alone, whatever was learned of the host. */
  readonly isOrdered?: boolean
}

/**
 * What a crawl has learned of a host. It is kept with the host's line: workers that share a queue share it. In
 * QUEUE_MODE=job each worker has its own.
 */
export interface HostState {
  /** The floor of its delay, milliseconds. 0: the settings alone decide. */
  readonly delayMs: number
  /** How many requests in a row had no good answer. */
  readonly failures: number
}

/** What a request has taught about its host, for all workers that ask it from now on. What is absent stays as it is. */
export interface HostNews {
  /** The new floor of the delay between two requests, milliseconds (Crawl-delay, AutoThrottle). 0: none. */
  readonly delayMs?: number
  /** How many requests in a row have failed by now; 0 after an answer. */
  readonly failures?: number
  /** For so many milliseconds from now no request to the host starts. A longer pause that runs already is kept. */
  readonly pauseMs?: number
  /** The reason of the pause, as `webloom status` shows it. */
  readonly pauseReason?: string
}

/** An order for a host, given while the crawl runs (`webloom host`). What is absent stays as the crawl has it. */
export interface HostOrder {
  /** When it was given, milliseconds since 1970 by the clock of the queue's Redis: another order has another. */
  readonly at: number
  /** The delay between two requests, milliseconds, in place of that of the settings and of what was learned. */
  readonly delayMs?: number
  /** For so many milliseconds from now no request to the host starts. 0: any pause ends, one that the host asked for, too. */
  readonly pauseMs?: number
  /** Its requests go before those of other hosts, at the pace that the host allows. */
  readonly isBoosted?: boolean
}

/** By slot, as requests name it. */
export type HostOrders = ReadonlyMap<string, HostOrder>

/**
 * When the documents of one page may leave, as its host's delay, and that of other hosts, allow. A page over HTTP is one
 * document; one that a browser shows may open several.
 */
export interface DocumentPace {
  /**
   * Resolves when a document may leave for the host of `url`. It must leave at once: the host's delay is counted from here. Documents
   * go before the requests that wait in the queue, in the order in which they have asked. Where no delay lies between two
   * requests to the host, this resolves at once. Rejects when `signal` fires.
   *
   * A busy browser takes its time. So nothing else leaves for the host until the document is seen to leave, or is answered, or
   * `signal` fires: whoever asks says so.
   */
  mayLeave(url: string, signal: AbortSignal): Promise<LeavingDocument>
}

/** A document that may leave. */
export interface LeavingDocument {
  /** Called when the document is seen to leave: the host's delay is counted from here. */
  left(): void
  /** Called when the document is answered, or will not leave any more. */
  over(): void
}

/** As far as the documents of pages know a clock: they leave between its requests. */
export interface DocumentClock {
  /** Whether there is a delay between two requests to the host. */
  isPaced(slot: string): boolean
  /**
   * Returns the milliseconds until a document may leave for the host. 0: now. Infinity: when a request that is handed out has
   * started or ended. Requests that stand by do not count.
   */
  documentWaitMs(slot: string, nowMs: number): number
  /** Called when a document begins to wait, and when it has left or was given up. In between no request is handed out. */
  documentWaits(slot: string, isWaiting: boolean): void
  /** Called when a document leaves, and again when it is seen to. Where there is a delay, it is counted from here. */
  documentLeft(slot: string, nowMs: number): void
  /**
   * Called when a request that is handed out is about to wait for what pages of its host may have, such as a browser: it will ask
   * as a document does before it leaves, so documents need not wait for it. Called with false before it has started or ended.
   */
  standsBy(slot: string, isStandingBy: boolean): void
}

/**
 * Tells when the next request to a host may start. In memory for one process; in a cluster it is part of the queue's turn.
 * A slot is what has a pace of its own, usually a host. Times are milliseconds of one monotonic clock, given by the caller.
 * This port is internal: no setting takes one of a user's own.
 */
export interface HostClock extends DocumentClock {
  /** Returns the milliseconds until one more request may be handed out. 0: now. Infinity: when one in flight has ended. */
  waitMs(slot: string, nowMs: number): number
  /** Called when a request is handed out. With a delay, no other one is handed out until this one has started or ended. */
  taken(slot: string): void
  /** Called when a request leaves for the host. The delay is counted from here, or from `left`. */
  started(slot: string, nowMs: number): void
  /** Called when the started request is on its way: the program may have stood still since `started`. */
  left(slot: string, nowMs: number): void
  /** Called when a request is over. `hadStarted` is false when it never left, so that it costs the host no delay. */
  ended(slot: string, hadStarted: boolean): void
  /** Takes news of the host; a shorter delay already counts for the next request. */
  learn(slot: string, news: HostNews, nowMs: number): void
  /** Takes all orders that there are now, in place of those before. Returns the slots whose order has changed. */
  order(orders: HostOrders, nowMs: number): readonly string[]
  /** Returns by how much a request of the slot is more urgent than its priority says; 0 without an order. */
  boostOf(slot: string): number
  /** Returns whether a delay lies between two requests to the host, by the settings or as was learned. */
  isPaced(slot: string): boolean
  /** Returns what is known of the host. */
  stateOf(slot: string): HostState
  /** May be called at any time: hosts that hold nothing worth keeping are forgotten when many are known. */
  forgetIdle(nowMs: number): void
}
