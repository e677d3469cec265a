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

test('what is no page is not among them', () => {
  expect(skippedPages({ 'seeds/invalid': 3, 'item_dropped_reasons_count/DropItem': 2 })).toEqual([])
})

test('each is told in words of its own, where the reason of the dashboard is shorter', () => {
  const stats = { 'depth/request_ignored_count': 3, 'httpcache/ignore': 2, 'robotstxt/given_up': 1 }
  expect(skippedText(stats)).toBe('3 too deep, 2 not in the HTTP cache, 1 robots.txt not reachable')
})
