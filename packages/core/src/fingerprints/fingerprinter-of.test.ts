import { hash } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { Request } from '../requests/request.ts'
import { Settings } from '../settings/settings.ts'
import { filterFingerprinterOf, fingerprinterOf } from './fingerprinter-of.ts'

const request = new Request('https://example.com/?b=2&a=1#top')
const CANONICAL = 'https://example.com/?a=1&b=2'

describe('DUPEFILTER_DIGEST', () => {
  test('fingerprint is the FINGERPRINTER’s, computed once for filter and ids', () => {
    const settings = new Settings()
    expect(filterFingerprinterOf(settings, 'scrapy')).toBe(fingerprinterOf(settings, 'scrapy'))
    expect(filterFingerprinterOf(settings, 'scrapy')).toMatchObject({ name: 'scrapy', hashBytes: 20 })
  })

  test.each(['md5', 'sha1', 'sha256', 'sha512'] as const)('%s is that of the canonical URL', (digest) => {
    const filters = filterFingerprinterOf(new Settings({ DUPEFILTER_DIGEST: digest }), 'scrapy-redis')
    expect(filters.fingerprint(request)).toBe(hash(digest, CANONICAL))
    expect(filters.name).toBe(digest)
    expect(filters.fingerprint(request)).toHaveLength(2 * filters.hashBytes!)
  })

  test('url is the canonical URL itself; fragments and verbatim URLs count as in fingerprints', () => {
    const digest = (more: object = {}) =>
      filterFingerprinterOf(new Settings({ DUPEFILTER_DIGEST: 'url', ...more }), 'scrapy')
    expect(digest().fingerprint(request)).toBe(CANONICAL)
    expect(digest().hashBytes).toBeUndefined()
    expect(digest({ FINGERPRINT_KEEP_FRAGMENTS: true }).fingerprint(request)).toBe(`${CANONICAL}#top`)
    const verbatim = new Request('https://example.com/?b&a', { meta: { verbatim_url: true } })
    expect(digest().fingerprint(verbatim)).toBe('https://example.com/?b&a')
  })

  test('leaves out method and body; ids keep them', () => {
    const settings = new Settings({ DUPEFILTER_DIGEST: 'md5' })
    const post = new Request(request.url, { method: 'POST', body: 'a' })
    const filters = filterFingerprinterOf(settings, 'scrapy')
    const ids = fingerprinterOf(settings, 'scrapy')
    expect(filters.fingerprint(post)).toBe(filters.fingerprint(request))
    expect(ids.fingerprint(post)).not.toBe(ids.fingerprint(request))
  })

  test('refuses what it would leave out without a word', () => {
    const settings = new Settings({
      DUPEFILTER_DIGEST: 'md5',
      FINGERPRINTER: () => 'x',
      FINGERPRINT_INCLUDE_HEADERS: ['Accept'],
    })
    expect(() => filterFingerprinterOf(settings, 'scrapy')).toThrow(/^2 settings are wrong/)
  })
})

describe('CANONICALIZER=normalize-url', () => {
  const settings = (more: object = {}) => new Settings({ CANONICALIZER: 'normalize-url', ...more })
  const tracked = new Request(`${CANONICAL}&utm_source=mail`)

  test('changes what is compared, and never the URL', () => {
    const fingerprinter = fingerprinterOf(settings(), 'scrapy')
    expect(fingerprinter.name).toBe('scrapy+normalize-url')
    expect(fingerprinter.fingerprint(tracked)).toBe(fingerprinter.fingerprint(request))
    expect(tracked.url).toContain('utm_source')
    const scrapys = fingerprinterOf(new Settings(), 'scrapy')
    expect(scrapys.fingerprint(tracked)).not.toBe(scrapys.fingerprint(request))
  })

  test('works for every algorithm, and for digests', () => {
    for (const algorithm of ['scrapy', 'scrapy-redis', 'scrapy-2.6'] as const) {
      const fingerprinter = fingerprinterOf(settings(), algorithm)
      expect(fingerprinter.fingerprint(tracked)).toBe(fingerprinter.fingerprint(request))
    }
    const digest = filterFingerprinterOf(settings({ DUPEFILTER_DIGEST: 'url' }), 'scrapy')
    expect(digest.fingerprint(tracked)).toBe(CANONICAL)
    expect(digest.name).toBe('url+normalize-url')
  })

  test('a URL that the library cannot take has Scrapy’s form, and is counted', () => {
    const stats = { inc: vi.fn() }
    const digest = filterFingerprinterOf(settings({ DUPEFILTER_DIGEST: 'url' }), 'scrapy', stats)
    expect(digest.fingerprint(new Request('https://example.com/?b=%E9&a'))).toBe(
      'https://example.com/?a=&b=%E9',
    )
    expect(stats.inc.mock.calls).toEqual([['fingerprint/not_normalized']])
  })

  test('wrong options, and a FINGERPRINTER that would not hear of it, are refused', () => {
    const wrong = settings({ NORMALIZE_URL_OPTIONS: { stripWww: true } })
    expect(() => fingerprinterOf(wrong, 'scrapy')).toThrow('NORMALIZE_URL_OPTIONS has "stripWww"')
    const own = settings({ FINGERPRINTER: () => 'x' })
    expect(() => fingerprinterOf(own, 'scrapy')).toThrow('CANONICALIZER is normalize-url, and FINGERPRINTER')
  })
})

describe('a FINGERPRINTER that would fail for each request is refused at the start', () => {
  class ByPath {
    readonly part = 'path'
  }
  class WithMethod {
    fingerprint(request: Request) {
      return request.url
    }
  }

  test.each([
    [ByPath, /FINGERPRINTER is the class ByPath; expected a function \(request\) => string.*each request\.$/],
    [
      WithMethod,
      /the class WithMethod; .* export const byMethod = \(request\) => new WithMethod\(\)\.fingerprint\(request\)/,
    ],
    [new WithMethod(), /FINGERPRINTER is .*WithMethod.*; expected auto.* theObject\.fingerprint\(request\)/],
    [async () => 'x', /FINGERPRINTER is the AsyncFunction .* without async/],
  ])('%o', (chosen, reason) => {
    const settings = new Settings({ FINGERPRINTER: chosen as never })
    expect(() => fingerprinterOf(settings, 'scrapy')).toThrow(reason)
  })
})
