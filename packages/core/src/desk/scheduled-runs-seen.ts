/** What became of a run that was due by its schedule; `going`: the run before had not ended, and none was begun. */
export type ScheduledOutcome = 'begun' | 'resumed' | 'going' | 'failed'

/** Runs that were due by schedules of a crawl, since it has any. */
export interface ScheduledRunsSeen {
  /** Of the crawl, as in `CrawlSummary`; it may never have begun. */
  readonly id: string
  /** One that its workers refused after it was begun is among both. */
  readonly counts: Readonly<Record<ScheduledOutcome, number>>
}
