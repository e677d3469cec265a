/** What a crawl asks of the place where it is kept, and what that place is told of the crawl. `crawl-store.ts` makes one. */

import type {
  BudgetBook,
  BudgetLimits,
  BudgetTerms,
  CrawlPast,
  CrawlRecord,
  CrawlRun,
  DupeFilter,
  OtherWorkers,
  PageForms,
  RequestQueue,
  RunLog,
  SeedSource,
  StartHosts,
} from '@webloom/core'
import type { HostSlots, WholeTotals } from '@webloom/queue'
import type { EngineActivity } from '@webloom/spider'

/** How a process takes part in a crawl that is on Redis. */
export interface Participation {
  /** A finished crawl is begun again: `webloom crawl`, `webloom worker --new`. */
  readonly begins: boolean
  /** One worker of several: what only works in one process is refused. */
  readonly isWorker: boolean
}

/** What the crawl's store asks of the running crawl. */
export interface CrawlControls {
  activity(): EngineActivity
  pause(): void
  resume(): void
  stop(reason: string): void
  /** Ends the crawl for an error that is no page's fault, and logs it once. @param isTold the log says it already */
  fail(error: Error, isTold?: boolean): void
}

export interface CrawlStore {
  /** Tells this process from all others of the crawl. */
  readonly workerId: string
  readonly queue: RequestQueue
  /** Which host, domain or address a request is for, as politeness has it. */
  readonly slots: HostSlots
  readonly filter: DupeFilter
  /** Queue and filter are both in this process: nobody else asks the one or fills the other. */
  readonly isInProcess: boolean
  readonly record: CrawlRecord
  /** The run of the crawl, for components that share data with other runs. */
  readonly run?: CrawlRun
  /** Another run may go on with the crawl. */
  readonly outlivesRun: boolean
  readonly startHosts: StartHosts
  /** The book of what the crawl may spend. */
  budgetBook(limits: BudgetLimits, terms?: BudgetTerms): BudgetBook
  /** What workers have learned of pages that may need a browser. */
  readonly pageForms: PageForms
  readonly seeds?: SeedSource
  readonly others?: OtherWorkers
  /** What this run and those before come to. */
  readonly runLog: RunLog
  /**
   * What all processes of a finished crawl have counted: for the one that has left last, and only when all have told it.
   * Absent where there is one process.
   */
  totalsAtEnd?(): WholeTotals | undefined
  /** Opens connections. Throws WL_REDIS_UNREACHABLE. */
  connect(): Promise<void>
  disconnect(): void
  /** The record is open and the crawl goes on. */
  join(past: CrawlPast): Promise<void>
  /** Calls `look` about every ten seconds in one worker of all, from now until this process leaves. */
  watch(look: () => Promise<void>): void
  /** Called when this process has left, with its `finish_reason`. Never rejects. */
  ended?(reason: string): Promise<void>
  /** Resolves to how many pages are known by their visits, also where this run has no RECRAWL. The queue is open. */
  visitsKept(): Promise<number>
  /** Called when queue and filter are open, before anything is queued. When `signal` fires it resolves, and this process takes no part. */
  onOpen(signal?: AbortSignal): Promise<void>
  /** Called when this process leaves: the queue is closed, the filter is not. */
  onClose(): Promise<void>
  /** What this process waits for before it takes part, in words behind “it waits”; undefined: nothing. */
  waits?(): string | undefined
  /** Resolves to a server that does not answer now, or takes no writes; undefined when all do. */
  silentServer(): Promise<string | undefined>
  isNearlyFull(): Promise<boolean>
  /** One line each, for the start banner; connect first. */
  notes(): Promise<string[]>
  /** What to do when the crawl was finished before. */
  readonly howToBeginAnew: string
}
