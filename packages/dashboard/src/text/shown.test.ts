import { expect, test } from 'vitest'
import { linkOf, shown, shownLines } from './shown.ts'

test('a text is cut, and what cannot be seen in it is', () => {
  expect(shown('a\u0000b\u001b[31m\u007f\u202e\u2028')).toBe('a␀b␛[31m␡��')
  expect(shown('x'.repeat(10 * 2 ** 20))).toHaveLength(161)
  expect(shown('\ud800')).toBe('\ufffd')
  expect(shown('😀'.repeat(100), 3)).toBe('😀\ufffd…')
  expect(shown('grüße 漢字')).toBe('grüße 漢字')
})

test('lines stay lines', () => {
  expect(shownLines('a\r\n\tb\u0007', 100)).toBe('a\n\tb␇')
  expect(shownLines('abc', 2)).toBe('ab\n…')
})

test('only addresses of the web are links', () => {
  expect(linkOf('https://a.example/?q=<b>')).toBe('https://a.example/?q=<b>')
  for (const url of [
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'http://',
    `http://a/${'x'.repeat(3000)}`,
  ])
    expect(linkOf(url), url).toBeUndefined()
})
