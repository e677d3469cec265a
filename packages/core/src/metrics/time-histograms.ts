/**
 * Histograms of times, kept as stats: a counter for each bucket, and one for the seconds together. So those of several workers
 * are summed as all stats are, and cost Redis nothing of its own.
 */

import type { StatsCollector, StatValue } from '../crawl/stats.ts'

export interface TimeHistogramRow {
  readonly name: string
  readonly help: string
  /** Its stats begin with it: `download_time/count/0.25`, `download_time/count/more`, `download_time/seconds`. */
  readonly stat: string
  /** Upper bounds of its buckets, seconds. */
  readonly bounds: readonly number[]
}

const MORE = 'more'

/** Twelve bounds, from a cached page next door to one that ends at DOWNLOAD_TIMEOUT. */
const DOWNLOAD_BOUNDS_S = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180]
/** A page's links are found in milliseconds; a callback that asks others may wait for minutes. */
const CALLBACK_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30, 300]

/** From a host that is ready to one whose line takes days. */
const QUEUE_BOUNDS_S = [0.1, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400]

export const DOWNLOAD_TIMES: TimeHistogramRow = {
  name: 'webloom_download_seconds',
  help: 'Time from a request to its whole response; of those that brought one.',
  stat: 'download_time',
  bounds: DOWNLOAD_BOUNDS_S,
}

export const CALLBACK_TIMES: TimeHistogramRow = {
  name: 'webloom_callback_seconds',
  help: 'Time that a callback took for a page, with all that it waited for.',
  stat: 'callback_time',
  bounds: CALLBACK_BOUNDS_S,
}

export const QUEUE_TIMES: TimeHistogramRow = {
  name: 'webloom_queue_seconds',
  help: 'Time from when a request is found until it is sent for the first time.',
  stat: 'queue_time',
  bounds: QUEUE_BOUNDS_S,
}

export const TIME_HISTOGRAMS: readonly TimeHistogramRow[] = [QUEUE_TIMES, DOWNLOAD_TIMES, CALLBACK_TIMES]

/** Counts times into stats. */
export class TimeHistogram {
  readonly #stats: StatsCollector
  readonly #secondsKey: string
  readonly #buckets: readonly (readonly [boundMs: number, key: string])[]
  readonly #moreKey: string

  constructor({ stat, bounds }: TimeHistogramRow, stats: StatsCollector) {
    this.#stats = stats
    this.#secondsKey = `${stat}/seconds`
    this.#buckets = bounds.map((bound) => [bound * 1000, bucketKey(stat, bound)])
    this.#moreKey = `${stat}/count/${MORE}`
  }

  add(ms: number): void {
    const bucket = this.#buckets.find(([boundMs]) => ms <= boundMs)
    this.#stats.inc(bucket ? bucket[1] : this.#moreKey)
    this.#stats.inc(this.#secondsKey, ms / 1000)
  }
}

/** A histogram as it stands in stats. */
export interface TimesSeen {
  readonly name: string
  readonly help: string
  /** Seconds together. */
  readonly sum: number
  /** By the upper bound of each bucket how many are in it and in none before; the last bound is Infinity. */
  readonly counts: readonly (readonly [bound: number, count: number])[]
}

/** Returns those histograms of which something was counted: METRICS_TIMES is off as a rule. */
export function statHistograms(stats: Readonly<Record<string, StatValue>>): TimesSeen[] {
  return TIME_HISTOGRAMS.filter(({ stat }) => `${stat}/seconds` in stats).map((row) => seen(row, stats))
}

function seen({ name, help, stat, bounds }: TimeHistogramRow, stats: Readonly<Record<string, StatValue>>) {
  const count = (key: string) => Number(stats[key] ?? 0)
  return {
    name,
    help,
    sum: count(`${stat}/seconds`),
    counts: [
      ...bounds.map((bound) => [bound, count(bucketKey(stat, bound))] as const),
      [Number.POSITIVE_INFINITY, count(`${stat}/count/${MORE}`)] as const,
    ],
  }
}

function bucketKey(stat: string, bound: number): string {
  return `${stat}/count/${bound}`
}
