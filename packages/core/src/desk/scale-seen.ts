import type { Moment } from './crawl-status.ts'

/** How many workers of a crawl would help at this moment. */
export interface ScaleSeen {
  /**
   * How many, those that are present included. At least 1 while the crawl runs, as one is needed to end it; as many as are present
   * while it is paused; 0 when nothing is to be done. At most three times as many as are present.
   */
  readonly desired: number
  readonly present: number
  /**
   * Requests a second that all workers together may begin over the next minute, by the delays, pauses and concurrency of the hosts
   * that have something queued, and by what is queued of each.
   */
  readonly allowedPerSecond: number
  /**
   * Responses a second of a worker that is in use altogether, as measured over the last ten seconds, or the most that a worker has done
   * over the last ten minutes where that is more; null: not known yet.
   */
  readonly perWorkerPerSecond: number | null
  /** Why as many. */
  readonly words: string
  /** By Redis's clock. */
  readonly readAt: Moment
}
