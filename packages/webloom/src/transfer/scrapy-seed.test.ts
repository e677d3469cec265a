import { Request } from '@webloom/core'
import { requestFromSeed } from '@webloom/spider'
import { expect, test } from 'vitest'
import { scrapySeed } from './scrapy-seed.ts'

const form = { 'Content-Type': 'application/x-www-form-urlencoded' }

test('a request is a seed that scrapy-redis reads as the same request', () => {
  for (const request of [
    new Request('http://a.test/?q=1', { headers: { Referer: 'http://a.test/' }, meta: { depth: 1 } }),
    new Request('http://a.test/', {
      method: 'POST',
      headers: form,
      body: 'a=1&a=2&b=%C3%BC+c&constructor=d',
    }),
    new Request('http://a.test/', { method: 'HEAD', callback: 'parse' }),
  ]) {
    const read = requestFromSeed(scrapySeed(request)!, { format: 'scrapy-redis', trusted: true })
    const { url, method, body, meta } = request
    expect(read).toMatchObject({ url, method, meta })
    expect(Buffer.from(read.body).toString()).toBe(Buffer.from(body).toString())
  }
})

test.each<[string, Request]>([
  ['a callback', new Request('http://a.test/', { callback: 'parseItem' })],
  ['an errback', new Request('http://a.test/', { errback: 'failed' })],
  ['cookies', new Request('http://a.test/', { cookies: { a: '1' } })],
  ['headers', new Request('http://a.test/', { headers: { 'X-One': '1' } })],
  ['data for the callback', new Request('http://a.test/', { cbKwargs: { page: 1 } })],
  ['a body that is not a form', new Request('http://a.test/', { method: 'POST', body: '{}' })],
  [
    'a form field named as a part of the seed',
    new Request('http://a.test/', { method: 'POST', headers: form, body: 'url=1' }),
  ],
])('%s is more than such a seed can say', (_name, request) => {
  expect(scrapySeed(request)).toBeUndefined()
})
