import { expect, test } from 'vitest'
import { MemoryStatsCollector } from '../crawl/stats.ts'
import { totalsOf } from '../desk/crawl-status.ts'
import { CALLBACK_TIMES, DOWNLOAD_TIMES, TimeHistogram } from '../metrics/time-histograms.ts'
import { runFigures, summedFigures } from './run-figures.ts'

test('lines of the log that tell of alerts are no errors of the crawl: in its totals as in the record of its run', () => {
  const stats = {
    'log_count/ERROR': 5,
    'monitors/log_count/ERROR': 2,
    'log_count/WARNING': 4,
    'monitors/log_count/WARNING': 1,
  }
  expect(totalsOf(stats).errors).toBe(3)
  expect(totalsOf({ 'log_count/ERROR': 5 }).errors).toBe(5)
  expect(runFigures(stats)).toMatchObject({ errors: 3, warnings: 3 })
})

test('a run that comes back to known pages says of how many it writes the items, and of none where it waits for all', () => {
  const itemPages = (stats: Record<string, number>) =>
    runFigures(Object.fromEntries(Object.entries(stats).map(([key, value]) => [`recrawl/${key}`, value])))
      .itemPages
  expect(itemPages({})).toBe(undefined)
  expect(itemPages({ first_count: 9, item_page_count: 9 })).toBe(undefined)
  expect(itemPages({ changed_count: 2, first_count: 1, unchanged_count: 5, item_page_count: 3 })).toBe(3)
  expect(itemPages({ unchanged_count: 5, item_page_count: 0 })).toBe(0)
  expect(itemPages({ start_known_count: 1 })).toBe(0)
  // RECRAWL_UNCHANGED_ITEMS
  expect(itemPages({ changed_count: 2, unchanged_count: 5, start_known_count: 1 })).toBe(undefined)
})

test('the record of a run has how long its downloads and callbacks took, those of both parts of one that was resumed', () => {
  const part = (downloadsMs: readonly number[]) => {
    const stats = new MemoryStatsCollector()
    const [downloads, callbacks] = [DOWNLOAD_TIMES, CALLBACK_TIMES].map(
      (row) => new TimeHistogram(row, stats),
    )
    for (const ms of downloadsMs) downloads!.add(ms)
    callbacks!.add(5)
    return runFigures(stats.snapshot())
  }
  expect(part([100, 300]).times).toEqual({
    download: { seconds: 0.4, count: 2 },
    callback: { seconds: 0.005, count: 1 },
  })
  expect(summedFigures(part([100, 300]), part([600])).times).toMatchObject({
    download: { seconds: 1, count: 3 },
    callback: { count: 2 },
  })
  expect(runFigures({})).not.toHaveProperty('times')
})
