import { expect, test } from 'vitest'
import { visible, visibleJson, visibleLines } from './sanitize.ts'

test.each([
  ['plain text, ümläute, 日本, 👍', 'plain text, ümläute, 日本, 👍'],
  ['\u001b[31mred\u001b[0m', '\\x1b[31mred\\x1b[0m'],
  ['\u001b]0;title\u0007', '\\x1b]0;title\\x07'],
  ['a\nb\tc\rd', 'a\\nb\\tc\\rd'],
  ['\u0000\u0008\u007f', '\\x00\\x08\\x7f'],
  ['\u009b31m', '\\x9b31m'],
  ['evil\u202egpj.exe', 'evil\\u202egpj.exe'],
  ['\u2066\u2069\u202a', '\\u2066\\u2069\\u202a'],
  ['two\u2028lines', 'two\\u2028lines'],
])('visible(%j)', (text, shown) => expect(visible(text)).toBe(shown))

test('line ends and tabs may stay, and nothing else', () => {
  expect(visibleLines('a\nb\tc\r\nd\re\u001b[2J')).toBe('a\nb\tc\nd\\re\\x1b[2J')
})

test('no control character of Unicode is left but those', () => {
  const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).join('')
  expect(visible(all)).not.toMatch(/\p{Cc}|[\u202a-\u202e\u2066-\u2069\u2028\u2029]/u)
  expect(visibleLines(all).replaceAll(/[\n\t]/g, '')).not.toMatch(/\p{Cc}/u)
})

test('JSON means the same afterwards', () => {
  const value = { text: 'a\u009b31m\u007f\u202e\u2028', 'key\u0085': 1 }
  const json = visibleJson(`${JSON.stringify(value)}\n`)
  expect(json).toBe('{"text":"a\\u009b31m\\u007f\\u202e\\u2028","key\\u0085":1}\n')
  expect(JSON.parse(json)).toEqual(value)
})
