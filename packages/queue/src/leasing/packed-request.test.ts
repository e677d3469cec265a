import { Request, requestToJson, WebloomError } from '@webloom/core'
import { expect, test } from 'vitest'
import { packRequest, UNTRIED, unpackRequest, withTries } from './packed-request.ts'

const request = new Request('https://example.com/a?b=1', {
  method: 'POST',
  body: 'two\nlines',
  headers: { 'X-Line': 'é\u2028' },
  meta: { big: 123_456_789_012_345, list: [], note: 'a\nb' },
  priority: -3,
})

test('what is packed comes out the same, line breaks and all', () => {
  const unpacked = unpackRequest(packRequest({ id: 'f00d', request }))
  expect(unpacked.id).toBe('f00d')
  expect(unpacked.tries).toEqual(UNTRIED)
  expect(requestToJson(unpacked.request!)).toEqual(requestToJson(request))
})

test('an unmarked request has an empty second line; its JSON is the third and last', () => {
  const text = packRequest({ id: 'f00d', request: new Request('https://example.com/') })
  expect(text).toBe('f00d\n\n{"v":1,"url":"https://example.com/"}')
})

test('tries travel on the second line and can be changed one by one', () => {
  const text = packRequest({ id: 'f00d', request }, { attempt: 2, suspect: true })
  expect(text.split('\n')[1]).toBe('2:0:0:1')
  const once = withTries(text, { kills: 1, suspect: false })
  expect(unpackRequest(once).tries).toEqual({ attempt: 2, kills: 1, rejections: 0, suspect: false })
  expect(withTries(once, UNTRIED)).toBe(packRequest({ id: 'f00d', request }))
})

test.each([
  ['f00d\n\n{"v":2,"url":"https://example.com/"}', /form 2; this release reads form 1/],
  ['f00d\n\nno JSON', /JSON/],
  ['f00d\n\nnull', /null/],
  ['f00d\n\n{"v":1,"url":"nowhere"}', /nowhere/],
  ['f00d', /JSON/],
])('%j is unreadable, and its id is still known', (text, reason) => {
  const { id, unreadable } = unpackRequest(text)
  expect(id).toBe('f00d')
  expect(unreadable).toMatch(reason)
})

test('an id of two lines is refused', () => {
  expect(() => packRequest({ id: 'a\nb', request })).toThrow(WebloomError)
})
