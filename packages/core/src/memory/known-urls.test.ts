import { expect, test } from 'vitest'
import { KnownUrls } from './known-urls.ts'

test('what was asked for of late is not made again, however many came in between', () => {
  const known = new KnownUrls()
  let made = 0
  const ask = (url: string) => known.of(url, (written) => `${written}#${++made}`).url
  expect(ask('https://a.com/often')).toBe('https://a.com/often#1')
  for (let page = 0; page < 50_000; page++) {
    ask(`https://a.com/${page}`)
    if (page % 1000 === 0) ask('https://a.com/often')
  }
  expect(made).toBe(50_001)
  expect(ask('https://a.com/often')).toBe('https://a.com/often#1')
})

test('what nobody has asked for again is forgotten', () => {
  const known = new KnownUrls()
  known.of('https://a.com/once', () => 'the first')
  for (let page = 0; page < 50_000; page++) known.of(`https://a.com/${page}`, () => '')
  expect(known.of('https://a.com/once', () => 'made anew').url).toBe('made anew')
})
