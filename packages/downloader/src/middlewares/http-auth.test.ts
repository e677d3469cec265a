import { Request, type RequestInit } from '@webloom/core'
import { expect, test } from 'vitest'
import { testCrawler } from '../../testing/fetching.ts'
import { HttpAuthMiddleware } from './http-auth.ts'

const basic = (text: string) => `Basic ${Buffer.from(text, 'utf8').toString('base64')}`

const SETTINGS = { HTTPAUTH_USER: 'me', HTTPAUTH_PASS: 'pass', HTTPAUTH_DOMAIN: 'a.com' }

function authorization(settings: object, url: string, init: RequestInit = {}, spider = {}): string | null {
  const middleware = HttpAuthMiddleware.fromCrawler(testCrawler(settings, { name: 'test', ...spider }))
  const request = new Request(url, init)
  middleware.processRequest(request)
  return request.headers.get('authorization')
}

test.each([
  ['http://a.com/', true],
  ['https://www.a.com/x', true],
  ['http://a.com:8080/', true],
  ['http://b.com/', false],
  ['http://nota.com/', false],
  ['http://a.com.evil.com/', false],
  ['http://a.com@evil.com/', false],
])('of the domain a.com is %s: %s', (url, isSent) => {
  expect(authorization(SETTINGS, url)).toBe(isSent ? basic('me:pass') : null)
})

test('without a domain the crawl does not start, unless null is written', () => {
  for (const [settings, spider] of [
    [{ HTTPAUTH_USER: 'me' }, {}],
    [{ HTTPAUTH_PASS: 'pass' }, {}],
    [{}, { httpUser: 'me', httpPass: 'pass' }],
    [{ HTTPAUTH_USER: 'me' }, { httpAuthDomain: undefined }],
  ] as const)
    expect(() => authorization(settings, 'http://b.com/', {}, spider)).toThrow(/HTTPAUTH_DOMAIN=example\.com/)
  for (const domain of ['', '.', 'http://a.com', 'a.com:80', 'a b'])
    expect(() => authorization({ HTTPAUTH_USER: 'me', HTTPAUTH_DOMAIN: domain }, 'http://a.com/')).toThrow(
      'expected a host name',
    )
  const everywhere = { HTTPAUTH_USER: 'me', HTTPAUTH_PASS: '', HTTPAUTH_DOMAIN: null }
  expect(authorization(everywhere, 'http://b.com/')).toBe(basic('me:'))
  const spider = { httpUser: 'me', httpAuthDomain: null }
  expect(authorization({ HTTPAUTH_DOMAIN: 'a.com' }, 'http://b.com/', {}, spider)).toBe(basic('me:'))
})

test('what a request brings itself is for its host, also where it is redirected', () => {
  const middleware = HttpAuthMiddleware.fromCrawler(testCrawler())
  const first = new Request('http://a.com/', { meta: { http_user: 'me', http_pass: 'pass' } })
  middleware.processRequest(first)
  expect(first.headers.get('authorization')).toBe(basic('me:pass'))
  for (const [url, isSent] of [
    ['http://b.com/', false],
    ['https://a.com/x', true],
  ] as const) {
    const target = new Request(url, { meta: first.meta })
    middleware.processRequest(target)
    expect(target.headers.has('authorization')).toBe(isSent)
  }
})

test('without user and password nobody gets any', () => {
  expect(authorization({ HTTPAUTH_DOMAIN: 'a.com' }, 'http://a.com/')).toBe(null)
})

test("the spider's own come before the settings, the request's before both", () => {
  const spider = { httpUser: 'spider', httpPass: 'größer', httpAuthDomain: 'b.com' }
  expect(authorization(SETTINGS, 'http://b.com/', {}, spider)).toBe(basic('spider:größer'))
  expect(authorization(SETTINGS, 'http://a.com/', {}, spider)).toBe(null)
  const meta = { http_user: 'mine', http_pass: 'x', http_auth_domain: 'c.com' }
  expect(authorization(SETTINGS, 'http://c.com/', { meta }, spider)).toBe(basic('mine:x'))
  expect(authorization(SETTINGS, 'http://d.com/', { meta: { ...meta, http_auth_domain: null } })).toBe(
    basic('mine:x'),
  )
})

test("an Authorization header of the request's own stays", () => {
  expect(authorization(SETTINGS, 'http://a.com/', { headers: { authorization: 'Bearer x' } })).toBe(
    'Bearer x',
  )
})
