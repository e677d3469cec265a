import { readFileSync } from 'node:fs'
import {
  IgnoreRequest,
  type JsonObject,
  MemoryStatsCollector,
  Request,
  Response,
  silentLogger,
} from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { RedirectMiddleware } from './redirect.ts'

interface RedirectCase {
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
  }
}

const { cases } = JSON.parse(
  readFileSync(new URL('../../testdata/redirect.json', import.meta.url), 'utf8'),
) as { cases: RedirectCase[] }

const middleware = () =>
  new RedirectMiddleware({
    timesMax: 20,
    priorityAdjust: 2,
    spider: { name: 'test' },
    stats: new MemoryStatsCollector(),
    logger: silentLogger,
  })

describe('RedirectMiddleware answers as Scrapy 2.18 does', () => {
  test.each(
    cases.map(
      (one) =>
        [
          `${one.request.method ?? 'GET'} ${one.request.url} ${one.response.status} ${JSON.stringify(one.response.headers)} ${JSON.stringify(one.request.meta ?? {})}`,
          one,
        ] as const,
    ),
  )('%s', (_, { request: given, response, result }) => {
    const request = new Request(given.url, {
      method: given.method ?? 'GET',
      body: given.body ?? '',
      headers: given.headers ?? {},
      priority: given.priority ?? 0,
      ...(given.meta && { meta: given.meta }),
    })
    const answer = () =>
      middleware().processResponse(
        request,
        new Response(given.url, { status: response.status, headers: response.headers ?? {} }),
      )
    if (result.type === 'IgnoreRequest') return expect(answer).toThrow(IgnoreRequest)
    const got = answer()
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
    }).toEqual({
      url: result.url,
      method: result.method,
      body: result.body,
      priority: result.priority,
      meta: result.meta,
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
