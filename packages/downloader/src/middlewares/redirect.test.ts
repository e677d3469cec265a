import { readFileSync } from 'node:fs'
import {
  IgnoreRequest,
  type JsonObject,
  MemoryStatsCollector,
  Request,
  type RequestInit,
  Response,
  silentLogger,
} from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { MetaRefreshMiddleware } from './meta-refresh.ts'
import { RedirectMiddleware, type RedirectMiddlewareOptions } from './redirect.ts'

interface RedirectCase {
  middleware: 'redirect' | 'metarefresh'
  request: {
    url: string
    method?: string
    body?: string
    headers?: Record<string, string>
    priority?: number
    meta?: JsonObject
    dont_filter?: boolean
  }
  response: { status: number; headers?: Record<string, string>; body?: string }
  result: {
    type: 'request' | 'response' | 'error' | 'IgnoreRequest'
    url?: string
    method?: string
    body?: string
    headers?: Record<string, string[]>
    priority?: number
    meta?: JsonObject
    dont_filter?: boolean
  }
  request_meta_after: JsonObject
}

const { cases } = JSON.parse(
  readFileSync(new URL('../../testdata/redirect.json', import.meta.url), 'utf8'),
) as { cases: RedirectCase[] }

const rules = () => ({
  timesMax: 20,
  priorityAdjust: 2,
  stats: new MemoryStatsCollector(),
  logger: silentLogger,
})
const middleware = (options: Partial<RedirectMiddlewareOptions> = {}) =>
  new RedirectMiddleware({ ...rules(), spider: { name: 'test' }, ...options })
const metaRefresh = () =>
  new MetaRefreshMiddleware({ ...rules(), ignoredTags: ['noscript'], delaySecondsMax: 100 })

/** What a middleware makes of a redirect from `from` to `to`. */
function redirected(
  from: string,
  to: string,
  { init = {}, headers = {}, ...options }: RedirectedOptions = {},
): Request {
  const answer = middleware(options).processResponse(
    new Request(from, init),
    new Response(from, { status: 302, headers: { location: to, ...headers } }),
  )
  expect(answer).toBeInstanceOf(Request)
  return answer as Request
}

interface RedirectedOptions extends Partial<RedirectMiddlewareOptions> {
  init?: RequestInit
  headers?: Record<string, string>
}

describe('RedirectMiddleware and MetaRefreshMiddleware answer as those of Scrapy 2.18 do', () => {
  test.each(
    cases.map(
      (one) =>
        [
          `${one.request.method ?? 'GET'} ${one.request.url} ${one.response.status} ${JSON.stringify(one.response.headers ?? one.response.body)} ${JSON.stringify(one.request.meta ?? {})}`,
          one,
        ] as const,
    ),
  )('%s', (_, { request: given, response, result, request_meta_after, middleware: name }) => {
    const request = new Request(given.url, {
      method: given.method ?? 'GET',
      body: given.body ?? '',
      headers: given.headers ?? {},
      priority: given.priority ?? 0,
      dontFilter: given.dont_filter ?? false,
      ...(given.meta && { meta: given.meta }),
    })
    const answer = () =>
      (name === 'redirect' ? middleware() : metaRefresh()).processResponse(
        request,
        new Response(given.url, {
          status: response.status,
          headers: response.headers ?? {},
          body: response.body ?? '',
        }),
      )
    if (result.type === 'IgnoreRequest') return expect(answer).toThrow(IgnoreRequest)
    const got = answer()
    expect(request.meta).toEqual(request_meta_after)
    // Scrapy raises ValueError for a target like mailto: when the source has a fragment; handing the response on loses nothing.
    if (result.type === 'response' || result.type === 'error') return expect(got).toBeInstanceOf(Response)
    expect(got).toBeInstanceOf(Request)
    const target = got as Request
    expect({
      url: target.url,
      method: target.method,
      body: Buffer.from(target.body).toString(),
      priority: target.priority,
      meta: target.meta,
      dont_filter: target.dontFilter,
    }).toEqual({
      url: result.url,
      method: result.method,
      body: result.body,
      priority: result.priority,
      meta: result.meta,
      dont_filter: result.dont_filter,
    })
    const expected = Object.entries(result.headers ?? {}).map(([name, values]) => [
      name.toLowerCase(),
      values.length === 1 ? values[0] : values,
    ])
    expect(target.headers.toJSON()).toEqual(Object.fromEntries(expected))
  })
})

test('a Location in raw UTF-8 leads where its author meant', () => {
  const request = new Request('http://x/')
  const location = Buffer.from('/naïve?q=é', 'utf8').toString('latin1')
  const target = middleware().processResponse(
    request,
    new Response('http://x/', { status: 302, headers: { location } }),
  )
  expect((target as Request).url).toBe('http://x/na%C3%AFve?q=%C3%A9')
})

test('a Location that is not a URL is left to the callback', () => {
  for (const location of ['http://[::1/', 'http://a:99999/', 'https://exa%20mple.com/']) {
    const response = new Response('http://x/', { status: 302, headers: { location } })
    expect(middleware().processResponse(new Request('http://x/'), response) === response, location).toBe(true)
  }
})

test('statuses that the spider or the request wants to see are not followed', () => {
  const answer = (meta: JsonObject) => {
    const response = new Response('http://x/', { status: 302, headers: { location: '/y' } })
    const wanted = middleware({ spider: { name: 'test', handleHttpstatusList: [302] } })
    return [wanted, middleware()].map((one) =>
      one.processResponse(new Request('http://x/', { meta }), response),
    )
  }
  expect(answer({}).map((one) => one instanceof Response)).toEqual([true, false])
  // Both lists hold, as in Scrapy.
  expect(answer({ handle_httpstatus_list: [404] })[0]).toBeInstanceOf(Response)
  expect(answer({ handle_httpstatus_list: [302] })[1]).toBeInstanceOf(Response)
  expect(answer({ handle_httpstatus_all: true })[1]).toBeInstanceOf(Response)
  expect(answer({ dont_redirect: true })[1]).toBeInstanceOf(Response)
})

describe('the Referer after a redirect', () => {
  const init = { headers: { referer: 'https://a.com/page?q=1' } }

  test('is dropped where no policy is given', () => {
    expect(redirected('https://a.com/x', '/y', { init }).headers.get('referer')).toBe(null)
  })

  test('still names the page that had the link', () => {
    const target = redirected('https://a.com/x', '/y', { init, referrerPolicy: 'scrapy-default' })
    expect(target.headers.get('referer')).toBe('https://a.com/page?q=1')
  })

  test('is cut down to what the target may know', () => {
    const policy = { init, referrerPolicy: 'strict-origin-when-cross-origin' } as const
    expect(redirected('https://a.com/x', 'https://b.com/', policy).headers.get('referer')).toBe(
      'https://a.com/',
    )
    expect(redirected('https://a.com/x', 'http://b.com/', policy).headers.get('referer')).toBe(null)
  })

  test('obeys the Referrer-Policy of the redirect itself', () => {
    const headers = { 'referrer-policy': 'no-referrer' }
    const target = redirected('https://a.com/x', '/y', { init, headers, referrerPolicy: 'unsafe-url' })
    expect(target.headers.get('referer')).toBe(null)
  })
})

test.each(['file:///etc/passwd', 'data:text/html,hi', 'mailto:bob@b.example', 'mem://a/b'])(
  'a redirect to %s is not followed, and is counted and told',
  (location) => {
    const { stats } = rules()
    const told: unknown[] = []
    const logger = { ...silentLogger, debug: (fields: object | string) => void told.push(fields) }
    const request = new Request('http://a.example/from')
    const response = new Response(request.url, { status: 302, headers: { location }, request })
    expect(middleware({ stats, logger }).processResponse(request, response)).toBe(response)
    expect(stats.get('redirect/not_followed')).toBe(1)
    expect(told).toEqual([{ url: request.url, location }])
  },
)
