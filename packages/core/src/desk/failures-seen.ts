/** Requests that were given up, kept in a crawl's ledger of failures. */

import type { Moment } from './crawl-status.ts'

/** A request that was given up. */
export interface FailedRequest {
  readonly id: string
  readonly url: string
  readonly method: string
  /** As `FailureReason` has them: `download`, `status`, `callback`, `quarantined`. */
  readonly reason: string
  readonly message: string
  /** Null: there was no response. */
  readonly status: number | null
  /** How often it was tried. */
  readonly attempts: number
  readonly worker: string
  /** What failures of the same kind have in common. */
  readonly signature: string
  readonly at: Moment
}

/** Failures of one signature. */
export interface FailureGroup {
  readonly signature: string
  readonly reason: string
  /** The latest one's. */
  readonly message: string
  readonly status: number | null
  /** How many the ledger has. */
  readonly count: number
  /** How many there were, those included that were retried, dropped or removed for newer ones. */
  readonly total: number
  readonly firstAt: Moment | null
  readonly lastAt: Moment | null
  /** A few of them, the latest first; none of groups beyond the largest twenty. */
  readonly examples: readonly FailedRequest[]
}

export interface ResponseSnapshot {
  readonly url: string
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Its beginning, decoded. */
  readonly text: string
  /** Of the whole body. */
  readonly bytes: number
}

export interface FailuresSeen {
  /** How many the ledger has, with those in quarantine. */
  readonly count: number
  /** How many were dropped for newer ones (FAILED_MAX). */
  readonly trimmed: number
  /** The largest group first; about a hundred at most, and those in quarantine. */
  readonly groups: readonly FailureGroup[]
}

/** What a retry did. */
export interface FailedRetried {
  /** How many requests wait again. */
  readonly queued: number
  /** How many stay in the ledger: they were too large to be kept, or are of another release. */
  readonly unreadable: number
}

/** Which of them are meant: all that hold. Of none given: every one. */
export interface FailedFilter {
  readonly ids?: readonly string[]
  readonly signature?: string
  readonly host?: string
  readonly status?: number
  readonly reason?: string
  readonly since?: Moment
  readonly until?: Moment
}
