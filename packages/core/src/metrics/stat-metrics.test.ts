import { expect, test } from 'vitest'
import { skipsOf } from '../desk/skips-seen.ts'
import { SERIES_PER_CRAWL_MAX, STAT_METRICS } from './metrics-table.ts'
import { statMetrics } from './stat-metrics.ts'

type Stats = Readonly<Record<string, number | string | boolean | null>>

function seriesOf(stats: Stats, name: string): Record<string, number> {
  const found = statMetrics(stats).find(({ metric }) => metric.name === name)!
  return Object.fromEntries([...found.series].filter(([, count]) => count > 0))
}

const countSeries = (stats: Stats) => statMetrics(stats).reduce((sum, { series }) => sum + series.size, 0)

test('stats become series; several of one label value are summed', () => {
  const stats = {
    'downloader/response_status_count/200': 7,
    'downloader/response_status_count/404': 2,
    'robotstxt/forbidden': 3,
    'robotstxt/given_up': 1,
    'trap/chain': 5,
    'trap/pages_per_host': 1,
    item_scraped_count: 6,
    'cookies/refused': 4,
  }
  expect(seriesOf(stats, 'webloom_responses_total')).toEqual({ 200: 7, 404: 2 })
  expect(seriesOf(stats, 'webloom_skipped_total')).toEqual({ robots: 4, trap: 6 })
  expect(seriesOf(stats, 'webloom_items_total')).toEqual({ '': 6 })
  expect(seriesOf(stats, 'webloom_events_total')).toEqual({ 'cookies/refused': 4 })
})

test('what was passed over are the figures that the dashboard shows', () => {
  // Each of its stats has a number of its own, so that one that is missing on either side is seen.
  const { from } = STAT_METRICS.find(({ name }) => name === 'webloom_skipped_total')!
  const counted = from.map(({ stat }, n) => [stat.replace('<reason>', 'chain'), 2 ** n] as const)
  const stats: Record<string, number> = Object.fromEntries(counted)
  // The dashboard has it by status.
  stats['httperror/response_ignored_status_count/404'] = stats['httperror/response_ignored_count']!
  const shown = skipsOf(stats).map(({ reason, count }) => [
    reason.replace('.txt', '').replaceAll(' ', '_'),
    count,
  ])
  const series = seriesOf(stats, 'webloom_skipped_total')
  expect(Object.fromEntries(shown.filter(([, count]) => count !== 0))).toEqual({
    ...series,
    long_URL: series.long_url,
    long_url: undefined,
  })
})

test('a download that a bound ended is skipped once, though it was given up, too', () => {
  const stats = {
    'downloader/protection/body_size': 3,
    'downloader/given_up/body_size': 2,
    'downloader/given_up/DownloadTimeoutError': 5,
  }
  const counted = skipsOf(stats).filter(({ count }) => count > 0)
  expect(counted.map(({ reason, count }) => [reason, count])).toEqual([
    ['protection', 3],
    ['no response', 5],
  ])
})

test('a metric of which nothing was counted is 0', () => {
  const none = statMetrics({})
  expect(none.map(({ metric }) => metric.name)).toEqual(STAT_METRICS.map(({ name }) => name))
  for (const { series } of none) for (const count of series.values()) expect(count).toBe(0)
})

test('what is not a number, and what no metric is made of, is left out', () => {
  const stats = { start_time: 'x', 'log_count/INFO': 'many', 'start/failed': true, item_scraped_count: null }
  expect(statMetrics(stats)).toEqual(statMetrics({}))
})

test('strange statuses, kinds, reasons and names of a user do not make series', () => {
  const stats: Record<string, number> = {}
  for (let n = 100; n < 1000; n++) {
    stats[`downloader/response_status_count/${n}`] = 1
    stats[`downloader/exception_type_count/Kind${n}`] = 1
    stats[`downloader/protection/reason${n}`] = 1
    stats[`failed/reason_count/reason${n}`] = 1
    stats[`httpcache/result${n}`] = 1
    stats[`log_count/LEVEL${n}`] = 1
    stats[`trap/of-host-${n}.example`] = 1
    stats[`item_field_count/field${n}`] = 1
    stats[`mine/stat${n}`] = 1
  }
  const responses = seriesOf(stats, 'webloom_responses_total')
  expect(responses).toMatchObject({ 200: 1, other: 400 })
  expect(Object.values(responses).reduce((sum, count) => sum + count)).toBe(900)
  expect(seriesOf(stats, 'webloom_download_errors_total')).toEqual({ other: 900 })
  // What is read besides has its share: gauges of the crawl, and its histograms.
  expect(countSeries(stats)).toBeLessThanOrEqual(SERIES_PER_CRAWL_MAX - 130)
})

test('names and units are by the conventions of Prometheus', () => {
  for (const { name, help, label, from, values } of STAT_METRICS) {
    expect(name).toMatch(/^webloom_[a-z_]+_total$/)
    expect(help).toMatch(/^[A-Z].*[.)]$/)
    const named = from.every(({ value }) => value !== undefined)
    expect(label === undefined ? from.length === 1 : named !== (values !== undefined), name).toBe(true)
  }
})
