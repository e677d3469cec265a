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

test('without a domain every host gets them, without user and password none', () => {
  expect(authorization({ HTTPAUTH_USER: 'me', HTTPAUTH_PASS: '' }, 'http://b.com/')).toBe(basic('me:'))
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
