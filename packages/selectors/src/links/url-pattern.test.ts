import { expect, test } from 'vitest'
import { anyOf, type UrlPattern } from './url-pattern.ts'

const found = (pattern: UrlPattern, text: string) => anyOf([pattern])(text)

test('a pattern is sought anywhere, a string as a regular expression', () => {
  expect(found('/item/\\d+$', 'http://e.com/item/12')).toBe(true)
  expect(found('', 'anything')).toBe(true)
  expect(anyOf([])('anything')).toBe(false)
  expect(anyOf(['no', /Y(?:es)/i])('yes')).toBe(true)
})

test('global and sticky ones give the same answer each time, and are left as they were', () => {
  const global = /b/gy
  global.lastIndex = 2
  const test = anyOf([global])
  expect([test('abc'), test('abc')]).toEqual([true, true])
  expect(global.lastIndex).toBe(2)
})

test('what Python writes otherwise is understood', () => {
  expect(found('(?i)ITEM', '/item')).toBe(true)
  expect(found('\\A/(?P<kind>item)s/(?P=kind)\\Z', '/items/item')).toBe(true)
  expect(found('\\A/(?P<kind>item)s/(?P=kind)\\Z', '/items/items')).toBe(false)
  expect(found('\\\\A', '\\A')).toBe(true)
})

test('what is not a regular expression is refused', () => {
  expect(() => anyOf(['(item'])).toThrow('"(item" is not a regular expression')
})
