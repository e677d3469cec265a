import { expect, test } from 'vitest'
import { packShort, unpackShort } from './short-url.ts'

const PRINTED = Array.from({ length: 94 }, (_, n) => String.fromCharCode(33 + n)).join('')

test('what can stand in a URL comes back, whatever is behind it', () => {
  for (let from = 0; from < PRINTED.length; from++)
    for (const text of [PRINTED.slice(from), PRINTED.slice(0, from), PRINTED[from]!])
      expect(unpackShort(packShort(text)!)).toBe(text)
})

test('a URL takes less than two thirds of its letters', () => {
  const text = '/catalogue/section-12/page-1234.html?sort=asc'
  expect(packShort(text)!.length).toBeLessThan((text.length * 2) / 3)
})

test('a text with other letters is not packed', () => {
  for (const text of ['/ü', '/a b', '/\n', '/😀']) expect(packShort(text)).toBe(undefined)
})
