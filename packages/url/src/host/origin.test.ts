import { expect, test } from 'vitest'
import { originOf } from './origin.ts'

test.each([
  ['https://example.com/a/b', 'https://example.com'],
  ['https://example.com:8443/', 'https://example.com:8443'],
  ['https://example.com', 'https://example.com'],
  ['https://example.com?path=/a', 'https://example.com'],
  ['https://example.com#/a', 'https://example.com'],
])('the origin of %s is %s', (url, origin) => {
  expect(originOf(url)).toBe(origin)
})
