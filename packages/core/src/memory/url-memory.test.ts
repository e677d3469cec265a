import { expect, test } from 'vitest'
import { createFingerprinter, fingerprint } from '../fingerprints/fingerprint.ts'
import { KnownUrl } from '../requests/known-url.ts'
import { knownUrlOf, putUnderRules, Request } from '../requests/request.ts'
import { requestFromJson, requestToJson } from '../requests/request-json.ts'
import { UrlMemory } from './url-memory.ts'

const ODD = 'http://A.com/a b?ü'
const SAFE = 'http://a.com/a%20b?%C3%BC'

test('requests to one URL share what is known of it, however they are made', () => {
  const memory = new UrlMemory()
  const byLink = memory.requestsFrom('http://a.com/dir/', 'w3lib-2.5')!('/x', { priority: 1 })!
  const byUrl = memory.requestFor('http://a.com/x', {}, 'w3lib-2.5')
  const byAuthor = new Request('http://a.com/x')
  expect(knownUrlOf(byAuthor)).not.toBe(knownUrlOf(byUrl))
  memory.share(byAuthor)
  expect(byLink).toMatchObject({ url: 'http://a.com/x', priority: 1 })
  expect(knownUrlOf(byLink)).toBe(knownUrlOf(byUrl))
  expect(knownUrlOf(byAuthor)).toBe(knownUrlOf(byUrl))
})

test('what one crawl has met another does not know, and a URL is the same without any memory', () => {
  const requests = [new UrlMemory(), new UrlMemory()].map((memory) => memory.requestFor(ODD, {}, 'w3lib-2.5'))
  expect(knownUrlOf(requests[0]!)).not.toBe(knownUrlOf(requests[1]!))
  for (const request of [...requests, new Request(ODD)]) expect(request.url).toBe(SAFE)
})

test('a URL of another encoding, one that is verbatim and one from a queue stay as they are', () => {
  const memory = new UrlMemory()
  memory.requestFor(ODD, {}, 'w3lib-2.5')
  const others = [
    [new Request(ODD, { encoding: 'latin-1' }), 'http://a.com/a%20b?%FC'],
    [new Request(ODD, { meta: { verbatim_url: true } }), ODD],
    [requestFromJson(requestToJson(new Request(ODD))), SAFE],
  ] as const
  for (const [request, url] of others) {
    memory.share(request)
    expect(request.url).toBe(url)
    expect(knownUrlOf(request)?.isKept ?? false).toBe(false)
  }
})

test('what is known by the rules of 2.4 is not taken for what is known by those of 2.5', () => {
  const memory = new UrlMemory()
  const url = String.raw`http://a.com\x`
  const older = memory.requestFor(url, {}, 'w3lib-2.4')
  const newer = new Request(url)
  memory.share(newer)
  expect(older.url).not.toBe(newer.url)
  putUnderRules(newer, 'w3lib-2.4')
  memory.share(newer)
  expect(knownUrlOf(newer)).toBe(knownUrlOf(older))
})

test('a URL that is refused is refused again', () => {
  const memory = new UrlMemory()
  for (let time = 0; time < 2; time++)
    expect(() => memory.requestFor('http://a.com:port/', {}, 'w3lib-2.5')).toThrowError(/port/)
})

test('a request is made with what an author writes: its type takes nothing of the memory', () => {
  // @ts-expect-error
  expect(new Request(new KnownUrl('http://a.com/', 'w3lib-2.5')).url).toBe('http://a.com/')
})

test('several fingerprinters ask about one URL in turn, each for its own', () => {
  const fingerprinters = (['scrapy', 'scrapy-redis', 'scrapy-2.6'] as const).map((algorithm) => ({
    algorithm,
    ...createFingerprinter({ algorithm }),
  }))
  const memory = new UrlMemory()
  for (let time = 0; time < 3; time++) {
    for (const fingerprinter of fingerprinters) {
      const request = memory.requestFor('https://a.com/?b=1&a=2', {}, 'w3lib-2.5')
      expect(fingerprinter.fingerprint(request)).toBe(fingerprint(request, fingerprinter))
    }
  }
})

test('requests to one URL that differ in what counts are told apart after it is known', () => {
  const url = 'https://a.com/?b=1&a=2'
  const options = { includeHeaders: ['accept'] }
  const fingerprinter = createFingerprinter(options)
  const memory = new UrlMemory()
  for (const request of [
    new Request(url),
    new Request(url, { method: 'POST' }),
    new Request(url, { body: 'x' }),
    new Request(url, { headers: { accept: 'text/html' } }),
    new Request(url, { meta: { verbatim_url: true } }),
    new Request(url),
  ]) {
    memory.share(request)
    expect(fingerprinter.fingerprint(request)).toBe(fingerprint(request, options))
  }
})
