import type { RequestJson } from '../requests/request-json.ts'

/**
 * Why requests are given up.
 *
 * - `download`: no response came, and all retries are over
 * - `status`: the response had a status that its callback does not take
 * - `host`: nothing was sent, as its host was given up (HOST_FAILURES_MAX)
 * - `robots`: nothing was sent, as the site's robots.txt could not be fetched
 * - `callback`: the callback threw
 * - `middleware`: a middleware threw
 * - `quarantined`: it killed its workers, or every worker rejected it
 */
export const FAILURE_REASONS = [
  'download',
  'status',
  'host',
  'robots',
  'callback',
  'middleware',
  'quarantined',
] as const
/** Why a request was given up: see `FAILURE_REASONS`. */
export type FailureReason = (typeof FAILURE_REASONS)[number]

/** What a commit tells of a request that was given up. */
export interface GivenUp {
  readonly reason: Exclude<FailureReason, 'quarantined'>
  /** The error's class, or of a download that failed Scrapy's name for it. */
  readonly kind: string
  readonly message: string
  /** What failures of the same cause have in common: see `failureSignature`. */
  readonly signature: string
  /** The response's, if there was one. */
  readonly status?: number
  /** The response; kept of the first request of each signature. */
  readonly snapshot?: FailureSnapshot
}

/** The response of a request that was given up. */
export interface FailureSnapshot {
  readonly url: string
  readonly status: number
  readonly contentType: string
  /** Bytes of the body as it came. */
  readonly bytes: number
  /** The body, or its beginning: gzip, in base64. */
  readonly body: string
}

/** What happened to a request in quarantine, oldest first. */
export interface FailureEvent {
  /** Milliseconds since 1970, by the clock of the queue's Redis. */
  readonly at: number
  /** Id of the worker that had the request. */
  readonly worker: string
  readonly what: string
}

/** A failure as it is known without its request. */
export interface FailureSummary {
  /** Milliseconds since 1970, by the clock of the ledger's store. */
  readonly at: number
  /** Cut to 2 000 characters. Empty when this release cannot read the request. */
  readonly url: string
  readonly reason: FailureReason
  readonly kind: string
  readonly message: string
  readonly status?: number
}

/** A request that was given up. */
export interface LedgerEntry extends FailureSummary {
  readonly id: string
  /** Names this failure: a request that was retried and fails again has another one. */
  readonly key: string
  readonly signature: string
  /** How often it was tried: handed out, or retried. */
  readonly attempts: number
  /** Id of the worker that gave it up. Empty in a crawl of one process. */
  readonly worker: string
  /** Absent of a request that is too large to be kept, or cannot be read: it cannot be retried. */
  readonly request?: RequestJson
  /** Of a request in quarantine. */
  readonly history?: readonly FailureEvent[]
}

/** Failures of one signature. */
export interface LedgerGroup {
  readonly signature: string
  /** How many there were, those included that are no longer in the ledger. */
  readonly total: number
  /** How many are in the ledger. */
  readonly kept: number
  /** How many were removed for FAILED_MAX. */
  readonly trimmed: number
  readonly first: FailureSummary
  readonly last: FailureSummary
}

export interface LedgerCounts {
  /** How many requests are in the ledger; those in quarantine not counted. */
  readonly kept: number
  /** How many were ever given up. */
  readonly total: number
  /** How many were removed for FAILED_MAX, the oldest first. */
  readonly trimmed: number
  readonly quarantined: number
}

/** Where a list goes on; undefined: it is over. */
export interface LedgerPage {
  readonly entries: readonly LedgerEntry[]
  readonly cursor?: string
}

/**
 * The requests that were given up, and those in quarantine. A request is in it once, with its latest failure. What a commit
 * tells of a failure is written in the step that ends the page. FAILED_MAX bounds it: the oldest go. Requests in quarantine stay.
 */
export interface FailureLedger {
  counts(): Promise<LedgerCounts>
  /** Resolves to the failures by signature, those with the most in the ledger first. */
  groups(): Promise<readonly LedgerGroup[]>
  /**
   * Resolves to some entries: those in quarantine first, then the others, the latest first. With the answer's cursor it goes on.
   * What is in the ledger all the while comes at least once; an entry in quarantine may come twice. With `signature` only its
   * entries come, and no others are read where the ledger has them apart.
   */
  page(max: number, where?: { readonly cursor?: string; readonly signature?: string }): Promise<LedgerPage>
  /** Resolves to what tells of an entry whether it has come into the ledger since; not of one in quarantine. */
  laterThanNow(): Promise<(entry: LedgerEntry) => boolean>
  /** Resolves to the entries of these requests, as far as they are there. */
  find(ids: readonly string[]): Promise<readonly LedgerEntry[]>
  /** Resolves to the response of the first request of that signature; undefined where there was none. */
  snapshot(signature: string): Promise<FailureSnapshot | undefined>
  /**
   * Each of these requests leaves the ledger in the step that puts it at the end of its line, as if it had never been tried.
   * Resolves to the ids that were queued. A request without `request`, or whose failure is not in the ledger any more, is passed
   * over. `ended`: nothing was done, as the crawl has ended, and what is queued now would be deleted.
   */
  retry(entries: readonly LedgerEntry[]): Promise<readonly string[] | 'ended'>
  /** Removes entries. Resolves to the ids of those that were there. */
  drop(entries: readonly LedgerEntry[]): Promise<readonly string[]>
  /**
   * Removes counts and snapshots of failures that are gone, when none is left: in one step, so that one that comes at this moment is
   * kept. Called when all were dropped.
   */
  forgetGone(): Promise<void>
  /** Removes all of it, counts and snapshots too, and what is in quarantine. */
  clear(): Promise<void>
}
