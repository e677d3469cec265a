import type { BudgetBook, BudgetLimits, BudgetTerms } from '../ports/budget-book.ts'
import type { DownloadOptions, DownloadResult, FetchOptions } from '../ports/downloader.ts'
import type { OpenEgress } from '../ports/egress.ts'
import type { StartHosts } from '../ports/start-hosts.ts'
import type { RedisClient, RedisRole } from '../redis/redis-options.ts'
import type { Request } from '../requests/request.ts'
import type { Response, ResponseInit } from '../requests/response.ts'
import type { Settings } from '../settings/settings.ts'
import type { ProtocolTimes } from '../waiting/protocol-times.ts'
import type { HostListSources } from './host-list-sources.ts'
import type { Logger } from './logger.ts'
import type { Signals } from './signals.ts'
import type { SpiderLike } from './spider-like.ts'
import type { StatsCollector } from './stats.ts'

/** What a running crawl gives to its components. */
export interface Crawler {
  /** All settings, in their layers. */
  readonly settings: Settings
  /** The counters of this worker, shared by all its parts. */
  readonly stats: StatsCollector
  /** What happens in the crawl; components listen to it. */
  readonly signals: Signals
  /** Writes this crawl's log lines. */
  readonly logger: Logger
  /** The spider of this crawl. */
  readonly spider: SpiderLike
  /**
   * Returns the connection to the Redis that the settings name for that role, the same as the crawl's own parts have. The
   * crawl opens it before any page is fetched, or with its first command when it is asked for later, and closes it when all
   * components are closed. While Redis is away, commands wait for it.
   *
   * Throws `SettingsError` where the settings name no Redis for that role, or several (DUPEFILTER_REDIS_URL as a list).
   *
   * @param because the reason for that message: `COOKIES_SHARED is true`
   */
  redis(role: RedisRole, because?: string): RedisClient
  /** Makes a response of the class that callbacks expect, with its selectors. Absent: core's own class. */
  readonly createResponse?: (url: string, init: ResponseInit) => Response
  /** The crawl's other workers; absent in a crawl of one process. */
  readonly others?: OtherWorkers
  /** The hosts of the crawl's own start requests; absent where requests have no start, as in tests. */
  readonly startHosts?: StartHosts
  /**
   * Fetches a request without the queue and the dupefilter, by the crawl's own downloader and at its host's pace. Only the
   * caller gets the answer. Absent where there is no crawl, as in tests.
   */
  readonly fetch?: (request: Request, options: FetchOptions) => Promise<Response>
  /** The downloader, for its middlewares; absent for all other components. */
  readonly downloader?: DownloaderInside
  /** Looks hosts up, as the crawl's own connections do. Absent where there is no crawl, as in tests. */
  readonly addresses?: HostLookup
  /** Opens a way out for a client that makes its own connections; for download handlers, absent for all other components. */
  readonly openEgress?: OpenEgress
  /** Which part of a dupefilter that is spread over several servers, or is in several parts, is made; absent: the whole of it. */
  readonly shard?: ShardPart
  /** The run that this process takes part in, for components whose data it shares with other runs. Absent for commands. */
  readonly run?: CrawlRun
  /**
   * What stands out among the hosts that this process fetches from: `now()` returns it, for an extension that shows it, and
   * `add()` takes what a component knows beside that. Absent where there is no crawl, as in tests.
   */
  readonly hostLists?: HostListSources
  /**
   * Opens the crawl's book of what it may still spend, which all its processes share. Absent where there is no crawl, as in tests.
   *
   * @param terms told to whoever looks at the crawl from outside; default: nothing is
   */
  readonly budgetBook?: (limits: BudgetLimits, terms?: BudgetTerms) => BudgetBook
  /** The crawl as it is written on a command line, for lines to type in messages: `quotes -s CRAWL_ID=monday`. */
  readonly typed?: string
  /** How long the crawl's parts wait for each other. Absent: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
  /** Ends the crawl with this `finish_reason` when everything in flight is done. The first reason wins. */
  close(reason: string): void
}

/** The addresses of hosts, remembered while they hold; one for all parts of a crawl. */
export interface HostLookup {
  /**
   * Resolves to at least one address, in the order in which to try them; an address resolves to itself. Rejects with a `DownloadError`
   * of the kind `CannotResolveHostError` when there is none, or no answer within DNS_TIMEOUT.
   */
  of(hostname: string): Promise<readonly string[]>
  /**
   * Asks ahead of `of`, for a caller that lets others go first meanwhile. Settles as `of` does, which then has the answer.
   * Returns undefined where that would gain nothing: the answer is known already, will not be remembered, or comes from a
   * source that has enough to do. The caller then asks `of` in its turn.
   */
  ahead?(hostname: string): Promise<unknown> | undefined
  /** Ends what is asked for: who waits for it gets an error. Called when the crawl is over, and nothing is asked for any more. */
  close?(): void
}

/** Which part of a dupefilter is on one server, or has keys of its own on a server that has all parts. */
export interface ShardPart {
  /** The server's place in DUPEFILTER_REDIS_URL, or the part's number, from 0. */
  readonly index: number
  /** How many servers there are, or DUPEFILTER_SHARDS. */
  readonly count: number
  /** True: by DUPEFILTER_SHARDS. The number is in the names of the part's keys, as one server, or one cluster, has all parts. */
  readonly hasOwnKeys?: true
}

/** The crawl's downloader, as its own middlewares use it. */
export interface DownloaderInside {
  /** Returns the options of a request that is in the middlewares now: what is known of its host, and whom to tell more. */
  optionsOf(request: Request): DownloadOptions | undefined
  /** Notes that a request which is in the middlewares now has failed through its host, which has answered before and will pause. */
  blameHost(request: Request): void
  /** Returns true when that was noted of the request: it may wait for its host, which costs it none of its tries. */
  isHostToBlame(request: Request): boolean
  /** Returns the name of the class of DOWNLOAD_HANDLERS that fetches URLs of this scheme; undefined where a built-in handler does, or none. */
  ownHandlerOf(url: string): string | undefined
  /** Fetches by the request's handler and proxy, without the queue, the dupefilter and all other middlewares. */
  download(request: Request, options: DownloadOptions): Promise<DownloadResult>
}

/** One run of a crawl, and the Redis that its queue is on. */
export interface CrawlRun {
  /** Returns the run's name: the same in all its workers, and no other run's. Known once the crawl is open. */
  name(): string
  /** Which start of the queue's Redis answers now; another one after each restart. Absent where the queue is in this process. */
  redisRunId?(): Promise<string>
  /**
   * The same, for who deletes what would be needed if the queue's Redis came back older: what it had taken three seconds ago it cannot
   * lose any more. Rejects with WL_REDIS_AWAY while that does not hold, as its replicas are silent. Absent: `redisRunId` is enough.
   */
  keptRunId?(): Promise<string>
  /** Calls `listener` whenever the connection to the queue's Redis is there again. Absent where the queue is in this process. */
  onQueueBack?(listener: () => void): void
}

/** What this worker knows of the others. From the first call on it is about a second old. */
export interface OtherWorkers {
  /** Returns what the other workers have counted under that key, including workers that have left. */
  stat(key: string): number
  /** Returns the milliseconds since the crawl was begun or resumed, by any worker. */
  runningMs(): number
}

/**
 * How a component is made. Its constructor takes values, and `fromCrawler` reads the settings, so that a test never needs a
 * crawler. A class without `fromCrawler` is made by `new Class()`. `fromCrawler` makes `new this(…)`, so that a class which
 * extends this one makes its own instances when a setting names it. It throws `NotConfigured` when the settings do not ask
 * for the component.
 */
export interface ComponentClass<T> {
  /** Takes values; a class without `fromCrawler` gets none. */
  new (...args: never[]): T
  /** Reads settings and takes what the component needs of the crawl. */
  fromCrawler?(crawler: Crawler): T
}
