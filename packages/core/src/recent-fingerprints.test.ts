import { expect, test } from 'vitest'
import { createFingerprinter, fingerprint } from './fingerprint.ts'
import { RecentFingerprints } from './recent-fingerprints.ts'
import { Request } from './request.ts'

test('what was asked for of late is not made again, however many came in between', () => {
  const recent = new RecentFingerprints()
  let made = 0
  const ask = (url: string) => recent.of(url, () => `of ${url} ${++made}`)
  expect(ask('https://a.com/often')).toBe('of https://a.com/often 1')
  for (let page = 0; page < 50_000; page++) {
    ask(`https://a.com/${page}`)
    if (page % 1000 === 0) ask('https://a.com/often')
  }
  expect(made).toBe(50_001)
  expect(ask('https://a.com/often')).toBe('of https://a.com/often 1')
})

test('what nobody has asked for again is forgotten', () => {
  const recent = new RecentFingerprints()
  recent.of('https://a.com/once', () => 'the first')
  for (let page = 0; page < 50_000; page++) recent.of(`https://a.com/${page}`, () => '')
  expect(recent.of('https://a.com/once', () => 'made anew')).toBe('made anew')
})

test('requests to one URL that differ in what counts are told apart after it is known', () => {
  const url = 'https://a.com/?b=1&a=2'
  const options = { includeHeaders: ['accept'] }
  const fingerprinter = createFingerprinter(options)
  for (const request of [
    new Request(url),
    new Request(url, { method: 'POST' }),
    new Request(url, { body: 'x' }),
    new Request(url, { headers: { accept: 'text/html' } }),
    new Request(url, { meta: { verbatim_url: true } }),
    new Request(url),
  ]) {
    expect(fingerprinter.fingerprint(request)).toBe(fingerprint(request, options))
  }
})
