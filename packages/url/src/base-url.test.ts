import { cpuMs } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { baseUrlOf } from './base-url.ts'

const URL = 'https://site.example/a/b.html'

// As get_base_url of w3lib 2.5.0 has it.
test.each([
  ['<base href="my shop/">', 'https://site.example/a/my%20shop/'],
  ['<base href="/a\tb">', 'https://site.example/ab'],
  ["<BASE\nHREF = ' /c/ '/>", 'https://site.example/c/'],
  ['<base title="a > b" href=/d/>', 'https://site.example/d/'],
  ['<base href=/e/ href=/f/>', 'https://site.example/e/'],
  ['<base target=x><base href="/g/">', 'https://site.example/g/'],
  ['<base href=""><base href="/h/">', URL],
  ['<base href><base href="/i/">', URL],
  ['<script>"<base href=\'/j/\'>"</script><base href="/k/">', 'https://site.example/k/'],
  ['<noscript><base href="/l/"></noscript>', URL],
  ['<script>x<base href="/m/">', URL],
  ['<!-- <base href="/n/"> --><base href="/o/">', 'https://site.example/o/'],
  ['<base data-href="/p/">', URL],
  ['<basefont href="/q/">', URL],
])('%j leads to %s', (text, base) => {
  expect(baseUrlOf(text, URL, 'utf-8')).toBe(base)
})

test.each(['<base ', '<!--', '<script>', '<script ', '<base =', '<base a="', '</script', '<base x='])(
  'a head full of %s is read at once, and not in minutes',
  (part) => {
    const began = cpuMs()
    baseUrlOf(`<base ${part.repeat(100_000)}`, URL, 'utf-8')
    expect(cpuMs() - began).toBeLessThan(2000)
  },
)
