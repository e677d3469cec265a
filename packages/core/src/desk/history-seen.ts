/** What a crawl did before this moment: samples of the run, and earlier runs. */

import type { Moment } from './crawl-status.ts'

/** One sample: totals since the run began, and how much waited. Rates are differences of two samples. */
export interface HistorySample {
  /** Milliseconds since 1970, by Redis's clock. */
  readonly atMs: number
  readonly pages: number
  readonly items: number
  readonly errors: number
  readonly waiting: number
  readonly delayed: number
  readonly leased: number
  readonly workers: number
}

/** A run of the crawl, the present one included. */
export interface RunSeen {
  readonly run: string
  readonly begunAt: Moment
  /** Null while it goes on. */
  readonly endedAt: Moment | null
  readonly finishReason: string | null
  readonly pages: number
  readonly items: number
  readonly errors: number
  /** How many items had each field; null: not known. */
  readonly fields: Readonly<Record<string, number>> | null
}

/** What the crawl yields. */
export interface ItemsSeen {
  readonly count: number
  readonly perMinute: number
  /** How many of the run's items had each field; null: not known. */
  readonly fields: Readonly<Record<string, number>> | null
  /** The latest first, as JSON of a bounded length, with when it came if that is known; null: not known. */
  readonly last: readonly { readonly at: Moment | null; readonly json: string }[] | null
}
