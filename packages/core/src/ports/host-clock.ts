import type { Request } from '../request.ts'

/** How fast one host may be asked. */
export interface HostPace {
  /** Least time between the starts of two requests, milliseconds. */
  readonly delayMs: number
  /** Most requests in flight at once. 0: no bound. */
  readonly concurrency: number
  /** True: each delay is 0.5 to 1.5 times `delayMs`, by chance. Floors set by `pace` are kept all the same. */
  readonly randomize: boolean
}

/** What a crawl has learnt of a host. It is kept with the host's line: workers that share a queue share it. */
export interface HostState {
  /** The delay that was asked for on top of the settings, milliseconds. */
  readonly delayMs: number
  /** Requests in a row without a good answer. */
  readonly failures: number
}

/** What a request has taught about its host, for all who ask it from now on. What is absent stays as it is. */
export interface HostNews {
  /** A floor under the delay between two requests, milliseconds (Crawl-delay, AutoThrottle). */
  readonly delayMs?: number
  readonly failures?: number
  /** No request to the host starts for so long from now, milliseconds. A longer pause that runs already is kept. */
  readonly pauseMs?: number
  /** Why it pauses, as `webloom status` shows it. */
  readonly pauseReason?: string
}

/**
 * When may the next request to this host start? In memory for one process; in a cluster it is part of the queue's
 * turn. Times are milliseconds of one monotonic clock, handed in by the caller.
 */
export interface HostClock {
  /** The host's name for politeness: `meta.download_slot`, else the URL's host name. */
  slotOf(request: Request): string
  /** Milliseconds until one more may be handed out; 0 means now, Infinity means when one of them has ended. */
  waitMs(slot: string, nowMs: number): number
  /** One was handed out. With a delay, no other is until this one has started or ended. */
  taken(slot: string): void
  /** It leaves for the host now; the delay is counted from here. */
  started(slot: string, nowMs: number): void
  /** It is over. `hadStarted` false: it never left, so its turn was not used up. */
  ended(slot: string, hadStarted: boolean): void
  /** A floor under the host's delay from now on (Crawl-delay, AutoThrottle); chance never goes below it. */
  pace(slot: string, delayMs: number): void
  /** No request to this host before `untilMs` (Retry-After). */
  pause(slot: string, untilMs: number): void
  /** May be called at any time: hosts that hold nothing worth keeping are forgotten when many are known. */
  forgetIdle(nowMs: number): void
}
