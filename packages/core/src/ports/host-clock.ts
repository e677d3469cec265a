/** How fast one host may be asked. */
export interface HostPace {
  /** Least time between the starts of two requests, milliseconds. */
  readonly delayMs: number
  /** Most requests in flight at once. 0: no bound. */
  readonly concurrency: number
  /** True: chance makes each delay longer or shorter, by `jitter` at most. A floor under it is kept all the same. */
  readonly randomize: boolean
  /** A share of `delayMs`, 0 to 1. Absent: 0.5, which is 0.5 to 1.5 times the delay. */
  readonly jitter?: number
}

/**
 * What a crawl has learnt of a host. It is kept with the host's line: workers that share a queue share it, but for
 * QUEUE_MODE=job, where each worker knows its own.
 */
export interface HostState {
  /** The floor under its delay, milliseconds; 0: the settings alone decide. */
  readonly delayMs: number
  /** Requests in a row without a good answer. */
  readonly failures: number
}

/** What a request has taught about its host, for all who ask it from now on. What is absent stays as it is. */
export interface HostNews {
  /** From now on a floor under the delay between two requests, milliseconds (Crawl-delay, AutoThrottle); 0: none. */
  readonly delayMs?: number
  /** How many requests in a row have failed by now; 0 after an answer. */
  readonly failures?: number
  /** No request to the host starts for so long from now, milliseconds. A longer pause that runs already is kept. */
  readonly pauseMs?: number
  /** Why it pauses, as `webloom status` shows it. */
  readonly pauseReason?: string
}

/**
 * When may the next request to this host start? In memory for one process; in a cluster it is part of the queue's
 * turn. A slot is what is asked politely: a host, as a rule. Times are milliseconds of one monotonic clock, handed in by
 * the caller. Ours alone: no setting takes one of a user's own.
 */
export interface HostClock {
  /** Milliseconds until one more request may be handed out. 0 means now, Infinity means when one in flight has ended. */
  waitMs(slot: string, nowMs: number): number
  /** A request was handed out. With a delay, no other one is handed out until this one has started or ended. */
  taken(slot: string): void
  /** A request leaves for the host now. The delay is counted from here. */
  started(slot: string, nowMs: number): void
  /** A request is over. `hadStarted` is false when it never left, so that it costs the host no delay. */
  ended(slot: string, hadStarted: boolean): void
  /** Something about the host is known from now on; a shorter delay takes effect for the next request already. */
  learn(slot: string, news: HostNews, nowMs: number): void
  /** What is known of the host. */
  stateOf(slot: string): HostState
  /** May be called at any time: hosts that hold nothing worth keeping are forgotten when many are known. */
  forgetIdle(nowMs: number): void
}
