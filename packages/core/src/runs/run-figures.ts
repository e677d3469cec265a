/** What a run came to, from the stats of its workers together: the same figures wherever runs are kept. */

import type { StatValue } from '../crawl/stats.ts'
import { linesAt } from '../desk/crawl-status.ts'
import type { RunSeen } from '../desk/history-seen.ts'
import { statHistograms } from '../metrics/time-histograms.ts'

/** All of a run that is counted. */
export type RunFigures = Omit<
  RunSeen,
  'run' | 'state' | 'begunAt' | 'endedAt' | 'finishReason' | 'mayMiss' | 'alerts' | 'unsent'
>

/** Kept of what a server may invent. */
const STATUSES_MAX = 50

export function runFigures(stats: Readonly<Record<string, StatValue>>): RunFigures {
  const count = (key: string) => Number(stats[key] ?? 0)
  return {
    requests: count('downloader/request_count'),
    pages: count('response_received_count'),
    items: count('item_scraped_count'),
    ...(comesBack(stats) && { itemPages: count('recrawl/item_page_count') }),
    errors: linesAt('ERROR', count),
    criticals: count('log_count/CRITICAL'),
    warnings: linesAt('WARNING', count),
    givenUp: count('failed/count'),
    retries: count('retry/count'),
    exhausted: count('retry/max_reached'),
    exceptions: count('downloader/exception_count'),
    dropped: count('item_dropped_count'),
    invalid: count('item_dropped_reasons_count/InvalidItem'),
    filtered: count('dupefilter/filtered'),
    bytes: count('downloader/response_bytes'),
    statuses: mostOf(countsUnder('downloader/response_status_count/', stats)),
    fields: countsUnder('item_field_count/', stats),
    ...timesOf(stats),
  }
}

/** Pages were known, and it writes the items of some alone; or none of them was due. */
function comesBack(stats: Readonly<Record<string, StatValue>>): boolean {
  const counted = (...names: string[]) => names.some((name) => Number(stats[`recrawl/${name}`] ?? 0) > 0)
  const isOfKnown = counted('changed_count', 'unchanged_count', 'start_known_count')
  const isAnyVisited = counted('changed_count', 'unchanged_count', 'first_count')
  return isOfKnown && (!isAnyVisited || stats['recrawl/item_page_count'] !== undefined)
}

/** Adds up two parts of one run, such as those before and after it was resumed. */
export function summedFigures(one: RunFigures, other: RunFigures): RunFigures {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])] as (keyof RunFigures)[]
  return Object.fromEntries(
    names.map((name) => [name, summed(one[name], other[name])]),
  ) as unknown as RunFigures
}

function summed(one: unknown, other: unknown): unknown {
  if (one === undefined) return other
  if (other === undefined) return one
  if (typeof one === 'number') return one + Number(other)
  const [a, b] = [one, other] as [Record<string, unknown>, Record<string, unknown>]
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return Object.fromEntries([...names].map((name) => [name, summed(a[name], b[name])]))
}

function countsUnder(start: string, stats: Readonly<Record<string, StatValue>>): Record<string, number> {
  const under = Object.entries(stats).filter(([key]) => key.startsWith(start))
  return Object.fromEntries(under.map(([key, value]) => [key.slice(start.length), Number(value)]))
}

function mostOf(counts: Record<string, number>): Record<string, number> {
  const most = Object.entries(counts).sort(([, a], [, b]) => b - a)
  return Object.fromEntries(most.slice(0, STATUSES_MAX))
}

/** Returns the histograms' sums and counts; nothing where METRICS_TIMES is off. */
function timesOf(stats: Readonly<Record<string, StatValue>>): Pick<RunFigures, 'times'> {
  const times = statHistograms(stats).map(({ name, sum, counts }) => [
    name.replace(/^webloom_(.*)_seconds$/, '$1'),
    { seconds: sum, count: counts.reduce((all, [, count]) => all + count, 0) },
  ])
  return times.length === 0 ? {} : { times: Object.fromEntries(times) }
}
