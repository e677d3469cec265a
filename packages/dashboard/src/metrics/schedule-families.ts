/** The metric of schedules: of crawls that may never have begun, and so have no others. */

import type { ScheduledRunsSeen } from '@webloom/core'
import type { MetricFamily } from './metric-family.ts'

export function scheduleFamilies(scheduled: readonly ScheduledRunsSeen[]): MetricFamily[] {
  const values = scheduled.flatMap(({ id, counts }) =>
    Object.entries(counts).map(([outcome, value]) => ({ labels: { crawl: id, outcome }, value })),
  )
  return [
    {
      name: 'webloom_scheduled_runs_total',
      help: 'Runs that were due by schedules, by what became of them. going: none was begun, as the one before had not ended.',
      type: 'counter',
      labels: ['crawl', 'outcome'],
      values,
    },
  ]
}
