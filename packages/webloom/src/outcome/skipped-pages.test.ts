import { skipsOf } from '@webloom/core'
import { expect, test } from 'vitest'
import { skippedPages, skippedText } from './skipped-pages.ts'

const STATS = {
  response_received_count: 500,
  'offsite/filtered': 1200,
  'offsite/domains': 3,
  'robotstxt/forbidden': 14,
  'robotstxt/request_count': 2,
  'dupefilter/filtered': 90,
  'trap/repeated_segments': 7,
  'httperror/response_ignored_count': 5,
  'httperror/response_ignored_status_count/404': 5,
  'downloader/given_up/DownloadTimeoutError': 2,
  'downloader/exception_type_count/DownloadTimeoutError': 6,
  'downloader/protection/file_url': 1,
  'depth/request_ignored_count': 0,
}

const WHOLE_NAMES = [
  'dupefilter/filtered',
  'offsite/filtered',
  'robotstxt/forbidden',
  'robotstxt/given_up',
  'depth/request_ignored_count',
  'urllength/request_ignored_count',
  'redirect/max_times_reached',
  'host_backoff/dropped',
  'budgets/dropped',
]

test('each reason is told once, the most frequent first', () => {
  expect(skippedPages(STATS)).toEqual([
    { reason: 'offsite', count: 1200 },
    { reason: 'met before', count: 90 },
    { reason: 'robots.txt', count: 14 },
    { reason: 'trap: repeated segments', count: 7 },
    { reason: 'HTTP 404', count: 5 },
    { reason: 'DownloadTimeoutError', count: 2 },
    { reason: 'file: URL not allowed', count: 1 },
  ])
})

test('in one line', () => {
  expect(skippedText({ 'offsite/filtered': 1200, 'robotstxt/forbidden': 14 })).toBe(
    '1,200 offsite, 14 robots.txt',
  )
  expect(skippedText({})).toBe('')
})

test('whatever the dashboard counts as skipped is told, but for what is no page', () => {
  const NO_PAGES = ['not a request', 'items dropped']
  // One of each family; the parts of a reason are named by the stats that have counted something.
  const stats = {
    ...Object.fromEntries(WHOLE_NAMES.map((name) => [name, 1])),
    'trap/chain': 1,
    'httperror/response_ignored_status_count/404': 1,
    'downloader/given_up/DownloadTimeoutError': 1,
    'downloader/protection/file_url': 1,
  }
  for (const { reason, stats: parts } of skipsOf(stats)) {
    if (NO_PAGES.includes(reason)) continue
    expect(parts, reason).not.toEqual([])
    for (const { stat } of parts) expect(skippedPages({ [stat]: 1 }), stat).toHaveLength(1)
  }
})
