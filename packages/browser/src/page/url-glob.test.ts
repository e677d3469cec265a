import { expect, test } from 'vitest'
import { globOf } from './url-glob.ts'

test.each([
  ['/api/*', 'http://x.example/api/17', true],
  ['/api/*', 'http://x.example/api/17/more', false],
  ['/api/**', 'http://x.example/api/17/more', true],
  ['/api/items', 'http://x.example/api/items?page=2', true],
  ['/api/items?page=*', 'http://x.example/api/items?page=2', true],
  ['/api/items?page=*', 'http://x.example/api/items', false],
  ['/a.c', 'http://x.example/abc', false],
  ['**/api/*.json', 'https://y.example/v1/api/a.json', true],
  ['https://y.example/**', 'http://y.example/', false],
])('%s and %s: %s', (glob, url, expected) => {
  expect(globOf(glob)(url)).toBe(expected)
})

test('no URL that a page can make up takes long', () => {
  // An expression tries each place for each of the five.
  expect(globOf('/a**b**c**d**e**f')(`http://x.example/${'abcde'.repeat(13_000)}`)).toBe(false)
})
