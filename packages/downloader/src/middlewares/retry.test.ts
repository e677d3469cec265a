import { readFileSync } from 'node:fs'
import {
  DownloadError,
  type DownloadFailureKind,
  type JsonObject,
  MemoryStatsCollector,
  Request,
  Response,
  RetryLater,
  Settings,
  silentLogger,
} from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { getRetryRequest } from '../retrying/next-try.ts'
import { RetryMiddleware, type RetryMiddlewareOptions } from './retry.ts'

interface RetryCase {
  settings: { RETRY_TIMES?: number; RETRY_PRIORITY_ADJUST?: number; RETRY_HTTP_CODES?: (number | string)[] }
  event: number | string
  meta: JsonObject
  result: { type: 'request' | 'response' | 'none'; priority?: number; meta?: JsonObject }
  stats: Record<string, number>
}

const { cases } = JSON.parse(readFileSync(new URL('../../testdata/retry.json', import.meta.url), 'utf8')) as {
  cases: RetryCase[]
}

// What our handler calls the failures for which Scrapy's had Twisted's classes.
const KINDS: Readonly<Record<string, DownloadFailureKind>> = {
  'twisted.internet.error.TimeoutError': 'DownloadTimeoutError',
  'twisted.internet.error.TCPTimedOutError': 'DownloadTimeoutError',
  'twisted.internet.error.DNSLookupError': 'CannotResolveHostError',
  'twisted.internet.error.ConnectionRefusedError': 'DownloadConnectionRefusedError',
  'twisted.internet.error.ConnectError': 'DownloadFailedError',
  'twisted.internet.error.ConnectionDone': 'DownloadFailedError',
  'twisted.internet.error.ConnectionLost': 'DownloadFailedError',
  'scrapy.core.downloader.handlers.http11.TunnelError': 'DownloadFailedError',
  'builtins.OSError': 'DownloadFailedError',
}

function crawler(settings: object = {}) {
  const stats = new MemoryStatsCollector()
  const read = Settings.fromLayers({ command: settings as never })
  return { settings: read, stats, logger: silentLogger, spider: { name: 'test' } }
}

function fromSettings(settings: object = {}) {
  const made = crawler(settings)
  return { middleware: RetryMiddleware.fromCrawler(made as never), ...made }
}

describe('RetryMiddleware answers as that of Scrapy 2.18 does', () => {
  test.each(
    cases.map(
      (one) => [`${JSON.stringify(one.settings)} ${one.event} ${JSON.stringify(one.meta)}`, one] as const,
    ),
  )('%s', (_, { settings, event, meta, result, stats: counted }) => {
    const { middleware, stats } = fromSettings(settings)
    const request = new Request('http://example.com/', { meta, priority: 2 })
    const kind = KINDS[event]
    const answer =
      typeof event === 'number'
        ? middleware.processResponse(request, new Response(request.url, { status: event }))
        : middleware.processException(request, kind ? new DownloadError(kind, 'x') : new Error(String(event)))
    // In our names: the kind instead of the Python class.
    const expected = Object.entries(counted).map(([key, value]) => [
      kind ? key.replace(String(event), kind) : key,
      value,
    ])
    expect(stats.snapshot()).toEqual(Object.fromEntries(expected))
    if (result.type === 'response') return expect(answer).toBeInstanceOf(Response)
    if (result.type === 'none') return expect(answer).toBe(undefined)
    expect(answer).toBeInstanceOf(RetryLater)
    const again = (answer as RetryLater).request
    expect({ priority: again.priority, meta: again.meta }).toEqual({
      priority: result.priority,
      meta: result.meta,
    })
  })

  test("statuses are named in Twisted's words", () => {
    const { middleware, stats } = fromSettings({ RETRY_HTTP_CODES: [504, 408, 418, 429, 520] })
    for (const status of [504, 408, 418, 429, 520])
      middleware.processResponse(new Request('http://x/'), new Response('http://x/', { status }))
    expect(Object.keys(stats.snapshot())).toEqual([
      'retry/count',
      'retry/reason_count/408 Request Time-out',
      "retry/reason_count/418 I'm a teapot",
      'retry/reason_count/429 Unknown Status',
      'retry/reason_count/504 Gateway Time-out',
      'retry/reason_count/520 Unknown Status',
    ])
  })

  test("RETRY_EXCEPTIONS takes Scrapy's and Twisted's paths", () => {
    const { middleware } = fromSettings({
      RETRY_EXCEPTIONS: ['twisted.internet.error.DNSLookupError', 'scrapy.exceptions.DownloadTimeoutError'],
    })
    const answer = (kind: DownloadFailureKind) =>
      middleware.processException(new Request('http://x/'), new DownloadError(kind, 'x'))
    expect(answer('CannotResolveHostError')).toBeInstanceOf(RetryLater)
    expect(answer('DownloadTimeoutError')).toBeInstanceOf(RetryLater)
    expect(answer('DownloadFailedError')).toBe(undefined)
  })
})

describe('the wait before another try', () => {
  const delayMs = (
    options: Partial<RetryMiddlewareOptions>,
    {
      retryTimes = 0,
      headers = {},
      status = 503,
    }: { retryTimes?: number; headers?: Record<string, string>; status?: number } = {},
  ): number => {
    const middleware = new RetryMiddleware({
      times: 20,
      httpCodes: [429, 503],
      exceptions: [],
      priorityAdjust: -1,
      giveUpLogLevel: 'ERROR',
      backoffMs: 1000,
      backoffMsMax: 60_000,
      random: () => 1,
      stats: new MemoryStatsCollector(),
      logger: silentLogger,
      ...options,
    })
    const request = new Request('http://x/', { meta: { retry_times: retryTimes } })
    const answer = middleware.processResponse(request, new Response(request.url, { status, headers }))
    expect(answer).toBeInstanceOf(RetryLater)
    return (answer as RetryLater).delayMs
  }

  test('doubles with each try, up to a bound', () => {
    expect([0, 1, 2, 3, 9].map((retryTimes) => delayMs({}, { retryTimes }))).toEqual([
      1000, 2000, 4000, 8000, 60_000,
    ])
  })

  test('is cut by chance, by half at the most', () => {
    expect(delayMs({ random: () => 0 }, { retryTimes: 1 })).toBe(1000)
    expect(delayMs({ random: () => 0.5 }, { retryTimes: 1 })).toBe(1500)
  })

  test('is none without a back-off', () => {
    expect(delayMs({ backoffMs: 0 }, { retryTimes: 5 })).toBe(0)
  })

  test('does not follow Retry-After, for which the whole host waits', () => {
    expect(delayMs({}, { headers: { 'retry-after': '7' } })).toBe(1000)
  })

  test('comes from RETRY_BACKOFF and RETRY_BACKOFF_MAX', () => {
    const { middleware } = fromSettings({ RETRY_BACKOFF: 8, RETRY_BACKOFF_MAX: 5 })
    const request = new Request('http://x/')
    const wait = middleware.processResponse(request, new Response(request.url, { status: 503 })) as RetryLater
    expect(wait.delayMs).toBeGreaterThanOrEqual(2500)
    expect(wait.delayMs).toBeLessThanOrEqual(5000)
  })
})

describe('a request that failed through its host', () => {
  const HOST_TO_BLAME = { isHostToBlame: () => true }

  test('waits with it, and pays neither with its tries nor with its priority, up to HOST_RETRY_TIMES', () => {
    const made = crawler({ HOST_RETRY_TIMES: 2, RETRY_TIMES: 1, RETRY_BACKOFF: 1 })
    const middleware = RetryMiddleware.fromCrawler({ ...made, downloader: HOST_TO_BLAME } as never)
    let request = new Request('http://x/', { priority: 5 })
    const seen: unknown[] = []
    for (;;) {
      const error = new DownloadError('DownloadConnectionRefusedError', 'x')
      const again = middleware.processException(request, error)
      if (!again) break
      request = again.request
      seen.push([request.meta, request.priority])
      expect(again.delayMs).toBeLessThanOrEqual(1000)
    }
    expect(seen).toEqual([
      [{ host_retry_times: 1 }, 5],
      [{ host_retry_times: 2 }, 5],
      [{ host_retry_times: 2, retry_times: 1 }, 4],
    ])
    expect(made.stats.snapshot()).toMatchObject({
      'retry/count': 3,
      'retry/host_count': 2,
      'retry/max_reached': 1,
    })
  })

  test('is given up at once with dont_retry', () => {
    const middleware = RetryMiddleware.fromCrawler({ ...crawler(), downloader: HOST_TO_BLAME } as never)
    const request = new Request('http://x/', { meta: { dont_retry: true } })
    const error = new DownloadError('DownloadConnectionRefusedError', 'x')
    expect(middleware.processException(request, error)).toBe(undefined)
  })
})

describe('getRetryRequest', () => {
  test('gives a callback the request to yield, past the dupefilter, until its tries are used up', () => {
    const made = crawler({ RETRY_TIMES: 2 })
    const spider = { crawler: made }
    const request = new Request('http://x/', { priority: 5, callback: 'parse', meta: { page: 1 } })
    const once = getRetryRequest(request, { spider, reason: 'empty' })!
    expect(once).toMatchObject({
      priority: 4,
      dontFilter: true,
      callback: 'parse',
      meta: { page: 1, retry_times: 1 },
    })
    const twice = getRetryRequest(once, { spider, reason: new DownloadError('DownloadFailedError', 'x') })!
    expect(twice.priority).toBe(3)
    expect(getRetryRequest(twice, { spider })).toBe(null)
    expect(made.stats.snapshot()).toEqual({
      'retry/count': 2,
      'retry/max_reached': 1,
      'retry/reason_count/DownloadFailedError': 1,
      'retry/reason_count/empty': 1,
    })
  })

  test('its own limits are those of this call only', () => {
    const made = crawler()
    const again = getRetryRequest(new Request('http://x/', { meta: { max_retry_times: 1 } }), {
      spider: { crawler: made },
      maxRetryTimes: 9,
      priorityAdjust: 3,
      statsBaseKey: 'captcha',
    })!
    expect(again.priority).toBe(3)
    expect(again.meta).toEqual({ max_retry_times: 1, retry_times: 1 })
    expect(made.stats.get('captcha/reason_count/unspecified')).toBe(1)
  })
})
