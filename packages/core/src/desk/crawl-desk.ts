import type { CrawlStatus, CrawlSummary } from './crawl-status.ts'
import type {
  FailedFilter,
  FailedRequest,
  FailedRetried,
  FailuresSeen,
  ResponseSnapshot,
} from './failures-seen.ts'
import type { FilterSeen, KnownSeen, SettingSeen } from './filter-seen.ts'
import type { HistorySample, ItemsSeen, RunSeen } from './history-seen.ts'
import type { HostChange, HostsSeen, OneHostSeen } from './hosts-seen.ts'
import type { ScaleSeen } from './scale-seen.ts'
import type { ScheduledRunsSeen } from './scheduled-runs-seen.ts'

/**
 * One crawl, as people and programs look at it and steer it: the dashboard, the HTTP API, metrics, MCP, and the commands of the
 * command line. Every view and every verb is here once, so all of them show the same figures and do the same thing.
 *
 * All that is returned is JSON. A view takes a bounded time of Redis, whatever waits there, and looks with no KEYS or SCAN.
 * While Redis is away each method rejects within a few seconds; the next call may succeed.
 *
 * A method that is absent: this crawl cannot tell that, or cannot be told it. Whoever shows it says "not known".
 */
export interface CrawlDesk {
  /** As in `CrawlSummary`. */
  readonly id: string
  readonly spider: string
  readonly crawlId: string | null
  /** Its queue's server, without its password. */
  readonly server: string

  /** The figures of `webloom status --json`. */
  status(): Promise<CrawlStatus>
  /** What stands out among its hosts. */
  hosts(): Promise<HostsSeen>
  /** One host by its exact name; one that the crawl never reached has nothing waiting. */
  host(name: string): Promise<OneHostSeen>
  /** How many workers would help now. */
  scale?(): Promise<ScaleSeen>
  filter?(): Promise<FilterSeen>
  /** Whether the crawl has seen a URL, asked for by GET. Records nothing. Rejects with `InvalidUrl` for what is not a URL. */
  isKnown?(url: string): Promise<KnownSeen>
  items?(): Promise<ItemsSeen>
  settings?(): Promise<readonly SettingSeen[]>
  /** Requests that were given up, by signature. */
  failures?(): Promise<FailuresSeen>
  /** The first response of a signature, where one was kept. */
  failedResponse?(signature: string): Promise<ResponseSnapshot | undefined>
  /** Those that the filter means, each signature's latest first, at most `max`. */
  failed?(filter: FailedFilter, max: number): Promise<readonly FailedRequest[]>
  /** Samples since that moment, of earlier runs, too, the oldest first; about one every ten seconds for a day. */
  history?(sinceMs: number): Promise<readonly HistorySample[]>
  /** The latest first. */
  runs?(): Promise<readonly RunSeen[]>

  /** Until `resume` no worker begins a request. Resolves to false when no crawl runs. */
  pause?(): Promise<boolean>
  /** Resolves to false when no crawl runs. */
  resume?(): Promise<boolean>
  /**
   * Every worker finishes what it has in flight and ends with that reason. Resolves to true also when the crawl was stopped before, to
   * false when it has finished or never began.
   */
  stop?(reason?: string): Promise<boolean>
  /** Sets a host's delay, pause or place before others; all workers obey within two seconds. */
  setHost?(name: string, change: HostChange): Promise<void>
  /** Queues failed requests again. Resolves to how many. */
  retryFailed?(filter: FailedFilter): Promise<FailedRetried>
  /** Deletes failed requests from the ledger. Resolves to how many. */
  dropFailed?(filter: FailedFilter): Promise<number>
}

/** All crawls that somebody may look at: of some Redis servers, or the one of this process. */
export interface CrawlDesks {
  /** All crawls, those that run first. One whose server does not answer says so in its place; this does not reject for it. */
  crawls(): Promise<readonly CrawlSummary[]>
  /** Resolves to undefined when there is no crawl of that id. */
  desk(id: string): Promise<CrawlDesk | undefined>
  /** Whether any server of crawls answers, though it may have none of them. Absent: there is none. */
  answers?(): Promise<boolean>
  /** Of crawls that have schedules. Those of a server that does not answer are left out. */
  scheduledRuns?(): Promise<readonly ScheduledRunsSeen[]>
  /** Lets go of what it opened; changes nothing of the crawls. */
  close(): Promise<void>
}
