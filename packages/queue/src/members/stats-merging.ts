/** How what several workers have counted becomes one. */

import type { StatValue } from '@webloom/core'

export type Merging = 'sum' | 'max' | 'min' | 'last'

/** Where the largest counts, beside keys that end with `max`. */
const LARGEST = new Set(['elapsed_time_seconds', 'memusage/startup', 'finish_time'])
/** What follows is a name of the user's, which may end as it likes: an item's field `price_max` is counted as any other. */
const NAMED = /^(?:item_field_count|monitors\/pages)\//

export function mergingOf(key: string, value: StatValue): Merging {
  if (NAMED.test(key)) return typeof value === 'number' ? 'sum' : 'last'
  if (/(^|[/_])max$/.test(key) || LARGEST.has(key)) return 'max'
  if (/(^|[/_])min$/.test(key) || key === 'start_time') return 'min'
  return typeof value === 'number' && Number.isFinite(value) ? 'sum' : 'last'
}

/** Stats of several workers, as STATS_KEY would hold them together. */
export function mergedStats(all: readonly Readonly<Record<string, StatValue>>[]): Record<string, StatValue> {
  const merged: Record<string, StatValue> = {}
  for (const [key, value] of all.flatMap((stats) => Object.entries(stats)))
    merged[key] = key in merged ? mergedValue(key, merged[key]!, value) : value
  return merged
}

function mergedValue(key: string, one: StatValue, other: StatValue): StatValue {
  const merging = mergingOf(key, other)
  if (one === null || other === null || merging === 'last') return other ?? one
  if (merging === 'sum') return Number(one) + Number(other)
  return (merging === 'max') === other > one ? other : one
}
