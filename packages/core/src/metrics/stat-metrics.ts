/** Reads the metrics of `metrics-table.ts` from a crawl's stats. */

import type { StatValue } from '../crawl/stats.ts'
import { type MetricSource, OTHER_VALUE, STAT_METRICS, type StatMetric } from './metrics-table.ts'
import { TIME_HISTOGRAMS } from './time-histograms.ts'

/** One metric with its series: by the label's value, or under '' when it has no label. */
export interface MetricSeries {
  readonly metric: StatMetric
  readonly series: ReadonlyMap<string, number>
}

interface Place {
  readonly metric: StatMetric
  /** Undefined: what the stat ends with says it. */
  readonly value: string | undefined
}

const PLACES = placesOf(STAT_METRICS)

/** Returns every metric, also those of which nothing was counted: their series are 0, so that a rate has a beginning. */
export function statMetrics(stats: Readonly<Record<string, StatValue>>): MetricSeries[] {
  const counted = new Map(STAT_METRICS.map((metric) => [metric, new Map(knownValues(metric))]))
  for (const [stat, count] of Object.entries(stats)) {
    const found = seriesOf(stat)
    if (!found || typeof count !== 'number' || !(count >= 0)) continue
    const series = counted.get(found.metric)!
    series.set(found.value, (series.get(found.value) ?? 0) + count)
  }
  return [...counted].map(([metric, series]) => ({ metric, series }))
}

/** Returns the series that a stat is a part of; undefined for one that is not a metric. */
export function seriesOf(stat: string): { metric: StatMetric; value: string } | undefined {
  const whole = PLACES.get(stat)
  if (whole) return { metric: whole.metric, value: whole.value ?? '' }
  const slash = stat.lastIndexOf('/') + 1
  const found = PLACES.get(`${stat.slice(0, slash)}<`)
  if (!found) return undefined
  return { metric: found.metric, value: found.value ?? boundedValue(found.metric, stat.slice(slash)) }
}

/** Returns it as queries name it: `webloom_responses_total{status="200"}`; of a stat with a `<…>` without that: `{status}`. */
export function shownSeries(stat: string): string | undefined {
  const [beginning, ...rest] = stat.split('<')
  const times = TIME_HISTOGRAMS.find((row) => beginning === `${row.stat}/`)
  if (times) return times.name
  const found = PLACES.get(rest.length > 0 ? `${beginning}<` : stat)
  if (!found) return undefined
  const { metric, value } = found
  if (metric.label === undefined) return metric.name
  return `${metric.name}{${metric.label}${value === undefined ? '' : `="${value}"`}}`
}

/** Returns the rows by stat; by its beginning and `<` where something follows that the source leaves open. */
function placesOf(metrics: readonly StatMetric[]): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>()
  for (const metric of metrics) for (const source of metric.from) places.set(...placed(metric, source))
  return places
}

function placed(metric: StatMetric, { stat, value }: MetricSource): [string, Place] {
  const open = stat.indexOf('<') + 1
  return [open > 0 ? stat.slice(0, open) : stat, { metric, value }]
}

function knownValues({ label, values, from }: StatMetric): [string, number][] {
  if (label === undefined) return [['', 0]]
  const known = values ?? from.map(({ value }) => value!)
  return known.map((value) => [value, 0])
}

/** A value that comes from strangers or from a user's own code may be anything. */
function boundedValue({ label, values = [] }: StatMetric, value: string): string {
  if (values.includes(value)) return value
  const ofClass = `${value[0]}xx`
  return label === 'status' && /^[1-5]\d\d$/.test(value) && values.includes(ofClass) ? ofClass : OTHER_VALUE
}
