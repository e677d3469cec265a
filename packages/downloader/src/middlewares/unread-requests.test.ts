import { DownloadError, MemoryStatsCollector, Request, RetryLater, silentLogger } from '@webloom/core'
import { expect, test } from 'vitest'
import { UnreadRequestsMiddleware } from './unread-requests.ts'

const URL = 'https://a.test/'

function outcomeOf(request: Request, unread = true) {
  const stats = new MemoryStatsCollector()
  const middleware = new UnreadRequestsMiddleware({ stats, logger: silentLogger })
  const error = new DownloadError('DownloadFailedError', 'other side closed', { unread })
  return { again: middleware.processException(request, error), stats: stats.snapshot() }
}

test.each(['GET', 'HEAD', 'PUT'])('%s keeps its place in the line, its priority and its tries', (method) => {
  const request = new Request(URL, { method, priority: 3, meta: { retry_times: 1, own: 'x' } })
  const { again, stats } = outcomeOf(request)
  expect(again).toBeInstanceOf(RetryLater)
  expect(again!.when).toBe('first')
  expect(again!.request).toMatchObject({ method, priority: 3 })
  expect(again!.request.meta).toEqual({ retry_times: 1, own: 'x', unread_times: 1 })
  expect(stats).toEqual({ 'downloader/unread_count': 1 })
})

test('twice; then it has failed like any other', () => {
  const { again } = outcomeOf(new Request(URL, { meta: { unread_times: 1 } }))
  expect(again!.request.meta.unread_times).toBe(2)
  expect(outcomeOf(again!.request)).toEqual({ again: undefined, stats: {} })
})

test.each([
  ['it may have been read', new Request(URL), false],
  ['it may do something twice', new Request(URL, { method: 'POST' }), true],
  ['it is not to be retried', new Request(URL, { meta: { dont_retry: true } }), true],
])('not where %s', (_, request, unread) => {
  expect(outcomeOf(request, unread)).toEqual({ again: undefined, stats: {} })
})
