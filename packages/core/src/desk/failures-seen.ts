/** Requests that were given up, kept in a crawl's ledger of failures. */

import type { Moment } from './crawl-status.ts'

/** A request that was given up. */
export interface FailedRequest {
  readonly id: string
  readonly url: string
  readonly method: string
  /** Kind of failure, by its stat's name: `DownloadTimeoutError`, `quarantined`. */
  readonly reason: string
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
  readonly status: number | null
  readonly count: number
  readonly firstAt: Moment | null
  readonly lastAt: Moment | null
  /** A few of them, the latest first. */
  readonly examples: readonly FailedRequest[]
  /** The first response, where one was kept. */
  readonly snapshot?: ResponseSnapshot
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
  /** How many the ledger has. */
  readonly count: number
  /** How many were dropped for newer ones (FAILED_MAX). */
  readonly trimmed: number
  /** The largest group first, at most 200. */
  readonly groups: readonly FailureGroup[]
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
