import { expect, test } from 'vitest'
import { pathTrapOf } from './path-trap.ts'

const LIMITS = { segmentsMax: 20, repeatsMax: 3 }

test.each([
  ['http://x/a/b/a/b/a/b/a/b', 'repeated_segments'],
  ['http://x/a/a/a/a/', 'repeated_segments'],
  ['http://x/a/1/a/2/a/3/a?q', 'repeated_segments'],
  [
    `http://x${'/y'.repeat(3)}${Array.from({ length: 18 }, (_, n) => `/s${n}`).join('')}`,
    'too_many_segments',
  ],
  ['http://x/a/a/a', undefined],
  ['http://x/2011/11/11/11/11/11', undefined],
  ['http://x/////////////////////////a', undefined],
  ['http://x/p?path=/a/a/a/a/a/a', undefined],
  ['http://a.a.a.a/#/a/a/a/a', undefined],
  ['http://x', undefined],
])('%s: %s', (url, trap) => {
  expect(pathTrapOf(url, LIMITS)).toBe(trap)
})

test('0 is no limit', () => {
  const url = `http://x${'/a'.repeat(50)}`
  expect(pathTrapOf(url, { segmentsMax: 0, repeatsMax: 0 })).toBe(undefined)
})
