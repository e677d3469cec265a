import { expect, test } from 'vitest'
import { createFingerprinter, fingerprint } from './fingerprint.ts'
import { KnownUrls } from './known-urls.ts'
import { Request } from './request.ts'

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

test('a URL that is refused is refused again', () => {
  for (let time = 0; time < 2; time++) expect(() => new Request('http://a.com:port/')).toThrowError(/port/)
})

test('a URL made safe is found again as it was written', () => {
  for (let time = 0; time < 2; time++)
    expect(new Request('http://A.com/a b').url).toBe(new Request('http://a.com/a%20b').url)
})

test('several fingerprinters ask about one URL in turn, each for its own', () => {
  const fingerprinters = (['scrapy', 'scrapy-redis', 'scrapy-2.6'] as const).map((algorithm) => ({
    algorithm,
    ...createFingerprinter({ algorithm }),
  }))
  for (let time = 0; time < 3; time++) {
    for (const fingerprinter of fingerprinters) {
      const request = new Request('https://a.com/?b=1&a=2')
      expect(fingerprinter.fingerprint(request)).toBe(fingerprint(request, fingerprinter))
    }
  }
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
