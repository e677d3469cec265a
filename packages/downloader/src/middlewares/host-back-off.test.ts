import {
  DownloadError,
  type DownloadFailureKind,
  type HostNews,
  MemoryStatsCollector,
  Request,
  Response,
  silentLogger,
} from '@webloom/core'
import { describe, expect, test } from 'vitest'
import type { HostBackOffRules } from '../pace/host-back-off.ts'
import { HostWatch } from '../pace/host-watch.ts'
import { GivenUpHostsMiddleware } from './given-up-hosts.ts'
import { HostBackOffMiddleware } from './host-back-off.ts'

const RULES: HostBackOffRules = {
  pausesFrom: 3,
  pauseMs: 1000,
  pauseMsMax: 60_000,
  retryAfterMsMax: 300_000,
  failuresMax: 12,
}

/** One host, whose state is what it was told last. */
function watchedHost(rules: Partial<HostBackOffRules> = {}) {
  const told: HostNews[] = []
  const blamed: Request[] = []
  let failures = 0
  const hostOf = () => ({
    host: { delayMs: 0, failures },
    onHostNews: (news: HostNews) => {
      told.push(news)
      failures = news.failures ?? failures
    },
  })
  const stats = new MemoryStatsCollector()
  const watch = new HostWatch()
  const middleware = new HostBackOffMiddleware({
    watch,
    rules: { ...RULES, ...rules },
    hostOf,
    blameHost: (request) => void blamed.push(request),
    stats,
    logger: silentLogger,
  })
  return {
    middleware,
    watch,
    blamed,
    hostOf,
    told,
    stats,
    answers(status: number, headers: Record<string, string> = {}, flags: string[] = []) {
      const request = new Request('http://x/')
      middleware.processResponse(request, new Response(request.url, { status, headers, flags }))
      return request
    },
    fails(kind: DownloadFailureKind, { code, meta = {} }: { code?: string; meta?: object } = {}) {
      const request = new Request('http://x/', { meta: meta as never })
      middleware.processException(request, new DownloadError(kind, 'x', { cause: { code } }))
      return request
    },
  }
}

describe('a host that only fails', () => {
  test('pauses from the third failure on, twice as long each time, up to a bound, until it is given up', () => {
    const { fails, told } = watchedHost()
    for (let n = 0; n < 12; n++) fails('DownloadTimeoutError')
    const pauses = told.map(({ pauseMs = 0 }) => pauseMs / 1000)
    expect(pauses).toEqual([0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 0])
    expect(told.map(({ failures }) => failures)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    expect(told[3]!.pauseReason).toBe('DownloadTimeoutError, 4 failures in a row')
  })

  test.each([200, 301, 404, 403])('is forgiven by a %i', (status) => {
    const { fails, answers, told } = watchedHost()
    for (let n = 0; n < 4; n++) fails('DownloadFailedError')
    answers(status)
    expect(told.at(-1)).toEqual({ failures: 0 })
  })

  test('is told of only as something changes: a host that answers well costs nothing', () => {
    const { answers, told } = watchedHost()
    for (let n = 0; n < 5; n++) answers(200)
    expect(told).toEqual([])
  })

  test('is not one whose failures say nothing of it', () => {
    const { fails, answers, told } = watchedHost()
    fails('DownloadTooLargeError')
    fails('ResponseDataLossError')
    fails('DownloadConnectionRefusedError', { meta: { proxy: 'http://127.0.0.1:1' } })
    answers(503, {}, ['cached'])
    expect(told).toEqual([])
  })

  test('with HOST_BACKOFF_AFTER 0 pauses only where it asks for it', () => {
    const { answers, told } = watchedHost({ pausesFrom: 0 })
    for (let n = 0; n < 5; n++) answers(500)
    answers(429)
    expect(told.map(({ pauseMs }) => pauseMs)).toEqual([...Array(5), 32_000])
  })
})

describe('a host that asks to wait', () => {
  test.each([
    ['7', 7000],
    [' 7 ', 7000],
    ['86400', 300_000],
  ])('pauses as long as Retry-After: %s says, up to RETRY_AFTER_MAX', (value, pauseMs) => {
    const { answers, told } = watchedHost()
    answers(503, { 'retry-after': value })
    answers(429, { 'retry-after': value })
    expect(told.map((news) => news.pauseMs)).toEqual([pauseMs, pauseMs])
  })

  test('may give a date, by its own clock where it tells that', () => {
    const { answers, told } = watchedHost()
    const date = 'Fri, 21 Nov 2025 10:00:00 GMT'
    answers(503, { 'retry-after': 'Fri, 21 Nov 2025 10:00:10 GMT', date })
    answers(503, { 'retry-after': new Date(Date.now() + 30_000).toUTCString() })
    expect(told[0]).toEqual({
      failures: 1,
      pauseMs: 10_000,
      pauseReason: '503 Service Unavailable, Retry-After 10 s',
    })
    expect(told[1]!.pauseMs).toBeGreaterThan(25_000)
    expect(told[1]!.pauseMs).toBeLessThanOrEqual(30_000)
  })

  test.each(['0', 'soon', '-5', '1.5', 'Fri, 21 Nov 2014 10:00:00 GMT', ''])(
    'is paused as long as its failures say when Retry-After is %j',
    (value) => {
      const { answers, told } = watchedHost()
      answers(429, { 'retry-after': value })
      answers(429)
      expect(told.map(({ pauseMs }) => pauseMs)).toEqual([1000, 2000])
    },
  )

  test('does not by a Retry-After with another status', () => {
    const { answers, told } = watchedHost()
    answers(301, { 'retry-after': '7' })
    answers(500, { 'retry-after': '7' })
    expect(told).toEqual([{ failures: 1 }])
  })
})

describe('the host is to blame, and not the request', () => {
  const blamed = (act: (host: ReturnType<typeof watchedHost>) => Request, hasAnswered = true): boolean => {
    const host = watchedHost()
    if (hasAnswered) host.answers(200)
    return host.blamed.includes(act(host))
  }

  test('when it was not reached, is asked too much, or asks to wait', () => {
    expect(blamed(({ fails }) => fails('DownloadConnectionRefusedError'))).toBe(true)
    expect(blamed(({ fails }) => fails('CannotResolveHostError'))).toBe(true)
    expect(blamed(({ fails }) => fails('DownloadFailedError', { code: 'EHOSTUNREACH' }))).toBe(true)
    expect(blamed(({ answers }) => answers(429))).toBe(true)
    expect(blamed(({ answers }) => answers(503, { 'retry-after': '1' }))).toBe(true)
  })

  test('but not for a page that hangs, breaks off or fails', () => {
    expect(blamed(({ fails }) => fails('DownloadTimeoutError'))).toBe(false)
    expect(blamed(({ fails }) => fails('DownloadFailedError', { code: 'ECONNRESET' }))).toBe(false)
    expect(blamed(({ answers }) => answers(503))).toBe(false)
    expect(blamed(({ answers }) => answers(500, { 'retry-after': '1' }))).toBe(false)
  })

  test('but not before it has answered well: nobody waits for a misspelt name', () => {
    expect(blamed(({ fails }) => fails('CannotResolveHostError'), false)).toBe(false)
    expect(blamed(({ answers }) => answers(429), false)).toBe(false)
  })
})

test('requests to a given-up host are dropped, but for one in each HOST_BACKOFF_MAX', () => {
  const { fails, hostOf, stats } = watchedHost()
  let nowMs = 0
  const gate = new GivenUpHostsMiddleware({ rules: RULES, hostOf, stats, now: () => nowMs })
  const passes = () => {
    try {
      gate.processRequest(new Request('http://x/a'))
      return true
    } catch (error) {
      expect(error).toMatchObject({ code: 'WL_HOST_GIVEN_UP' })
      return false
    }
  }
  for (let n = 1; n < 12; n++) fails('DownloadConnectionRefusedError')
  expect(passes()).toBe(true)
  fails('DownloadConnectionRefusedError')
  expect([passes(), passes(), passes()]).toEqual([true, false, false])
  nowMs = 60_000
  expect([passes(), passes()]).toEqual([true, false])
  expect(stats.get('host_backoff/dropped')).toBe(3)
})

test('what stands out is watched: times of answers, failures, pauses, and who is given up', () => {
  const { answers, fails, middleware, watch } = watchedHost()
  const request = new Request('http://x/', { meta: { download_latency: 0.5 } })
  middleware.processResponse(request, new Response(request.url, { status: 200 }))
  request.meta.download_latency = 9
  middleware.processException(request, new DownloadError('DownloadTimeoutError', 'x'))
  expect(watch.lists()).toMatchObject({
    failing: [{ host: 'x', failures: 1, reason: 'DownloadTimeoutError' }],
    slowest: [{ host: 'x', latencyMs: 500 }],
    paused: [],
    givenUp: [],
  })
  answers(503)
  answers(503)
  expect(watch.lists().paused).toMatchObject([{ host: 'x', reason: expect.stringContaining('503') }])
  for (let n = 3; n < 12; n++) fails('DownloadTimeoutError')
  expect(watch.lists()).toMatchObject({
    failing: [],
    givenUp: [{ host: 'x', reason: 'DownloadTimeoutError' }],
  })
  answers(200)
  expect(watch.lists()).toMatchObject({ failing: [], givenUp: [], recovered: [{ host: 'x' }] })
})
