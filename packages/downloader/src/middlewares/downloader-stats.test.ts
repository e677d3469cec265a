import { DownloadError, MemoryStatsCollector, Request, WebloomError } from '@webloom/core'
import { expect, test } from 'vitest'
import { DownloaderStatsMiddleware } from './downloader-stats.ts'

test('a request that the end of the crawl has cut off has not failed', () => {
  const stats = new MemoryStatsCollector()
  const middleware = new DownloaderStatsMiddleware(stats)
  const request = new Request('https://a.test/')
  middleware.processException(request, new WebloomError('WL_CLOSE_SPIDER', 'the crawl ends'))
  expect(stats.snapshot()).toEqual({})
  middleware.processException(request, new DownloadError('DownloadFailedError', 'closed'))
  expect(stats.get('downloader/exception_count')).toBe(1)
})
