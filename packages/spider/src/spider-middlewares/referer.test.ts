import { type Crawler, NotConfigured, Request, Response, Settings } from '@webloom/core'
import { expect, test } from 'vitest'
import { RefererMiddleware } from './referer.ts'

const page = (headers = {}) => new Response('https://a.com/page', { headers })

function refererOf(
  middleware: RefererMiddleware,
  request: Request,
  response: Response | null,
): string | null {
  return middleware.processSpiderRequest(request, response).headers.get('referer')
}

const fromSettings = (settings: object) =>
  RefererMiddleware.fromCrawler({
    settings: Settings.fromLayers({ command: settings as never }),
  } as Crawler)

test('a request tells which page led to it', () => {
  expect(refererOf(new RefererMiddleware(), new Request('https://b.com/'), page())).toBe('https://a.com/page')
})

test('a start request tells nothing', () => {
  expect(refererOf(new RefererMiddleware(), new Request('https://b.com/'), null)).toBe(null)
})

test("a Referer of the request's own stays, an empty one too", () => {
  for (const referer of ['https://own.com/', '']) {
    const request = new Request('https://b.com/', { headers: { referer } })
    expect(refererOf(new RefererMiddleware(), request, page())).toBe(referer)
  }
})

test("the page's Referrer-Policy and the request's own are obeyed", () => {
  const strict = page({ 'referrer-policy': 'no-referrer' })
  expect(refererOf(new RefererMiddleware(), new Request('https://b.com/'), strict)).toBe(null)
  const open = new Request('http://b.com/', { meta: { referrer_policy: 'unsafe-url' } })
  expect(refererOf(new RefererMiddleware(), open, strict)).toBe('https://a.com/page')
})

test("a page's policy counts for all its links but those with one of their own, and for no other page's", () => {
  const middleware = new RefererMiddleware()
  const to = (meta = {}) => new Request('https://b.com/', { meta })
  const strict = page({ 'referrer-policy': 'no-referrer' })
  expect(refererOf(middleware, to(), strict)).toBe(null)
  expect(refererOf(middleware, to({ referrer_policy: 'unsafe-url' }), strict)).toBe('https://a.com/page')
  expect(refererOf(middleware, to(), strict)).toBe(null)
  expect(refererOf(middleware, to(), page())).toBe('https://a.com/page')
})

test('REFERRER_POLICY is the policy of the crawl, by its name or by that of the class in Scrapy', () => {
  const request = () => new Request('https://b.com/')
  const origin = fromSettings({ REFERRER_POLICY: 'origin' })
  expect(refererOf(origin, request(), page())).toBe('https://a.com/')
  const sameOrigin = fromSettings({ REFERRER_POLICY: 'scrapy.spidermiddlewares.referer.SameOriginPolicy' })
  expect(refererOf(sameOrigin, request(), page())).toBe(null)
  expect(refererOf(fromSettings({}), request(), page())).toBe('https://a.com/page')
})

test('REFERER_ENABLED=false leaves the middleware out', () => {
  expect(() => fromSettings({ REFERER_ENABLED: false })).toThrow(NotConfigured)
})
