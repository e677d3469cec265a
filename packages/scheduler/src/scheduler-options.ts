import type {
  DupeFilter,
  Fingerprinter,
  Logger,
  ProtocolTimes,
  Request,
  RequestQueue,
  Signals,
  SpiderLike,
  StatsCollector,
} from '@webloom/core'

export interface SchedulerParts {
  readonly filter: DupeFilter
  readonly queue: RequestQueue
  /** Gives requests their ids. The filter has its own, which may follow other rules. */
  readonly fingerprinter: Fingerprinter
  /**
   * True where queue and filter are both in this process, and so is every asker: with each that is settled some doubt may be
   * over, and is looked at without a wait.
   */
  readonly endsDoubtsAtOnce?: boolean
  /** Called when queue and filter are open, before anything is queued. */
  readonly onOpen?: (signal?: AbortSignal) => Promise<void>
  /** Called when this process leaves the crawl: the queue is closed, the filter is not. */
  readonly onClose?: () => Promise<void>
  /** REDIS_HIGH_WATER: resolves to true when the queue's Redis is nearly full. */
  readonly isNearlyFull?: () => Promise<boolean>
}

export interface SchedulerOptions extends SchedulerParts {
  readonly stats: StatsCollector
  readonly signals: Signals
  readonly logger: Logger
  readonly spider: SpiderLike
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
  /** DUPEFILTER_DEBUG: every filtered request is logged, not only the first. */
  readonly logEveryDuplicate?: boolean
  /** Resolves to those whose pages come back by themselves (RECRAWL). */
  readonly comingBack?: (requests: readonly Request[]) => Promise<ReadonlySet<Request>>
}
