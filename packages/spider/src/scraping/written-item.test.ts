import { Request } from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { Response } from '../responses/response.ts'
import { itemJson, writtenItem } from './written-item.ts'

const page = new Response('https://site.example/', {
  body: '<title>A title</title>',
  headers: { 'content-type': 'text/html' },
  request: new Request('https://site.example/'),
})

class Price {
  amount = 12
}
class Secret {
  #key = 1
  get key() {
    return this.#key
  }
}

describe('what cannot be written names the field and what to write', () => {
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  test.each<[string, unknown, RegExp]>([
    ['a Selector', { title: page.xpath('//title')[0] }, /field "title" is a Selector: write \.get\(\)/],
    ['a list of them', { title: page.css('title') }, /field "title" is a SelectorList: write \.getall\(\)/],
    [
      'a method',
      { a: [{ title: page.css('title').get }] },
      /field "a\[0\]\.title" is the function get: call it/,
    ],
    ['a Promise', { price: Promise.resolve(1) }, /field "price" is a Promise: await it/],
    ['a Map', { tags: new Map([['a', 1]]) }, /field "tags" is a Map: write Object\.fromEntries\(map\)/],
    ['a symbol', { tag: Symbol('x') }, /field "tag" is a symbol/],
    ['a bigint', { id: 10n }, /field "id" is a bigint: write String\(value\)/],
    ['bytes', { body: Buffer.from('x') }, /field "body" is a Buffer: bytes/],
    ['a response', { page }, /field "page" is a Response: write \.text/],
    ['an error', { why: new RangeError('x') }, /field "why" is an Error: write its \.message/],
    [
      'private fields alone',
      { secret: new Secret() },
      /field "secret" is a Secret: it has no fields of its own/,
    ],
    ['itself', cycle, /is an object within itself/],
  ])('%s', (_what, item, reason) => {
    expect(() => itemJson(item)).toThrow(TypeError)
    expect(() => itemJson(item)).toThrow(reason)
  })
})

test('a Set is a list, dates and URLs are texts, a class with fields is an object', () => {
  const item = {
    tags: new Set(['a', 'b']),
    deep: [{ ids: new Set([1]) }],
    at: new Date(0),
    url: new URL('https://site.example/x'),
    price: new Price(),
    nothing: undefined,
  }
  expect(JSON.parse(itemJson(item))).toEqual({
    tags: ['a', 'b'],
    deep: [{ ids: [1] }],
    at: '1970-01-01T00:00:00.000Z',
    url: 'https://site.example/x',
    price: { amount: 12 },
  })
  expect(item.tags).toBeInstanceOf(Set)
})

test('what can be written is given back as it is', () => {
  const item = { a: 1, b: ['x', { c: null }], d: Number.NaN, __proto__: null }
  expect(writtenItem(item)).toBe(item)
})
