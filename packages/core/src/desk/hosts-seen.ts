/** Hosts of a crawl, seen from outside. Nothing here grows with the number of hosts that the crawl knows. */

import type { HostError, HostLists } from '../crawl/host-lists.ts'
import type { HostState } from '../ports/host-clock.ts'
import type { Moment } from './crawl-status.ts'

/** A host with a line, and what the crawl has learned of the host. */
export interface HostView extends HostState {
  readonly slot: string
  readonly waiting: number
  /** Requests that are held until their own time has come. */
  readonly delayed: number
  readonly leased: number
  /** Milliseconds until the host's delay is over; 0: it may be asked now. */
  readonly nextInMs: number
  /** Milliseconds until the host's pause is over; 0: it is not paused. */
  readonly pausedMs: number
  readonly pauseReason?: string
}

/** What becomes of a slot's line: `none`: nothing waits for it, though something may be in flight or held until its own time. */
export type SlotState = 'none' | 'ready' | 'later' | 'held' | 'hot'

/** A slot of a bucket, and who has it. */
export interface SlotView extends HostView {
  /**
   * `ready`: the holder of its bucket may take requests of it; `later`: when its delay or pause is over; `held`: a worker has it, with a few of
   * its requests; `hot`: it has lanes of its own.
   */
  readonly state: SlotState
  /** The lanes of a hot slot, with a holder or waiting for one; 0: it is not hot. */
  readonly lanes: number
  /** Ids of the workers that have its bucket, or a lane of it when it is hot; none when that turn waits for a worker. */
  readonly holders: readonly string[]
}

/** How many hosts are in each state, of those of which something waits. */
export interface HostTotals {
  readonly withLine: number
  readonly ready: number
  /** A delay or pause runs. */
  readonly later: number
  /** A worker has some of its requests. */
  readonly held: number
  /** Apart from the others of their bucket, for one worker or several. */
  readonly hot: number
  readonly paused: number
}

/** What stands out among the hosts, by the workers that are present. */
export interface HostsSeen {
  /** QUEUE_MODE. In `job` each worker keeps its own pace, and there are no lines of hosts. */
  readonly mode: 'turns' | 'job'
  readonly lists: HostLists
  /** Absent in QUEUE_MODE=job. */
  readonly totals?: HostTotals
  /** By Redis's clock: moments in the lists are compared with it. */
  readonly readAt: Moment
}

/** One host, found by its exact name. */
export interface OneHostSeen {
  readonly host: string
  /** Null in QUEUE_MODE=job, which keeps no lines of hosts. */
  readonly slot: SlotView | null
  /** Where the delay comes from, in words: a setting, the site's robots.txt, its answers, or somebody who set it live. */
  readonly delayFrom: string | null
  /** Its requests go before those of others, because somebody has said so. */
  readonly isBoosted: boolean
  /** What stands out of it, in the workers' lists: those entries alone that are its own. */
  readonly lists: HostLists
  /** Some of what waits for it, in the order of the line; null where that cannot be read. */
  readonly sample: readonly { readonly url: string; readonly priority: number }[] | null
  /** Responses by status and failures by kind, as workers that are present have counted them; null: none of them remembers the host. */
  readonly statuses: Readonly<Record<string, number>> | null
  /** The last errors that these have met, the latest first. */
  readonly errors: readonly HostError[]
  /** Since when `statuses` are counted; null as they are. */
  readonly countedSince: Moment | null
  readonly readAt: Moment
}

/** What somebody sets for a host while the crawl runs. Null takes back what was set. */
export interface HostChange {
  readonly delayMs?: number | null
  readonly pauseMs?: number | null
  /** Its requests go before those of others; false takes that back. */
  readonly boost?: boolean
}
