import type { Logger, StatsCollector } from '@webloom/core'

/** What a pipeline that writes items has left when the crawl closes. */
export interface UnwrittenItems {
  readonly logger: Logger
  readonly stats: Pick<StatsCollector, 'inc'>
  /** The stat that counts them. */
  readonly stat: string
  readonly count: number
  /** Where they were to go, as fields of the log. */
  readonly where: Readonly<Record<string, string>>
  /** True where an answer is missing: what was sent may be there, or arrive yet. */
  readonly mayBeThere: boolean
  /** The rest of "not written, as …". */
  readonly why: string
}

/** Tells how many items were not written, if any, and what becomes of them. */
export function tellUnwritten({ logger, stats, stat, count, where, mayBeThere, why }: UnwrittenItems): void {
  if (count === 0) return
  stats.inc(stat, count)
  const were = mayBeThere ? 'may not have been' : 'were not'
  logger.warn(
    { ...where, items: count },
    `items that ${were} written: ${count}, as ${why}. The pages that brought them do not count as done: the next run of the crawl fetches these again, and writes what they bring then`,
  )
}
