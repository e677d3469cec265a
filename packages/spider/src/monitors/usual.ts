/** What is usual: runs that a run is compared with. */

import type { RunSeen } from '@webloom/core'

/** So many of the latest ended runs are compared with. */
const PAST_MAX = 7

/**
 * Runs that came to their end, without those in which one of these alerts was raised: a broken spider stays broken, and would soon be what
 * is usual. One that was stopped or killed says little.
 */
export function comparable<Run extends RunSeen>(past: readonly Run[], ...alertIds: readonly string[]): Run[] {
  return past
    .filter(
      ({ state, alerts = [] }) => state === 'finished' && !alerts.some(({ id }) => alertIds.includes(id)),
    )
    .slice(0, PAST_MAX)
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}
