import { readFileSync } from 'node:fs'
import { InvalidUrl } from '@webloom/url'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../requests/json.ts'
import { putUnderRules, Request } from '../requests/request.ts'
import { createFingerprinter, fingerprint } from './fingerprint.ts'

interface Golden {
  url: string
  method?: string
  bodyHex?: string
  headers?: Record<string, string[]>
  encoding?: string
  meta?: JsonObject
  includeHeaders?: string[]
  keepFragments?: boolean
  /** What Request makes of `url`, when it is something else. */
  requestUrl?: string
  fingerprint: string | null
}

// What cannot be the same here, by the method or URL of the case, with the reason.
const EXCEPTIONS: readonly { reason: string; excepts: (one: Golden) => boolean }[] = [
  {
    reason: 'Request refuses the method MÉTHODE: it is not a token of RFC 9110 and could not be sent',
    excepts: ({ method }) => method === 'MÉTHODE',
  },
]

// The files were made with w3lib 2.4.
const rules = 'w3lib-2.4'

describe.each([
  ['scrapy', 'Scrapy 2.18'],
  ['scrapy-redis', 'scrapy-redis 0.8'],
  ['scrapy-2.6', 'Scrapy 2.6'],
] as const)('with the algorithm %s', (algorithm, tool) => {
  const golden = read(`fingerprint-${algorithm}`).filter(
    (one) => !EXCEPTIONS.some(({ excepts }) => excepts(one)),
  )

  test(`${golden.length} requests have the fingerprints of ${tool}`, () => {
    for (const one of golden) {
      const context = JSON.stringify(one)
      if (one.fingerprint === null) {
        expect(() => putUnderRules(requestOf(one), rules), context).toThrow(InvalidUrl)
        continue
      }
      const { includeHeaders, keepFragments = false } = one
      const options = { algorithm, keepFragments, rules, ...(includeHeaders && { includeHeaders }) } as const
      const request = requestOf(one)
      // Before a crawl has it, and after.
      expect(fingerprint(request, options), context).toBe(one.fingerprint)
      putUnderRules(request, rules)
      expect(request.url, context).toBe(one.requestUrl ?? one.url)
      expect(fingerprint(request, options), context).toBe(one.fingerprint)
    }
  })
})

describe('a fingerprint', () => {
  test('counts headers in the encoding of the request, as they are sent; what it cannot write is refused', () => {
    const of = (encoding: string) =>
      fingerprint(new Request('http://e.com/', { encoding, headers: { accept: 'é' } }), {
        includeHeaders: ['accept'],
      })
    expect(of('latin-1')).toBe(of('iso8859_15'))
    expect(of('latin-1')).not.toBe(of('utf-8'))
    expect(of('utf_8')).toBe(of('utf-8'))
    expect(() => of('cp1251')).toThrow('the header accept holds a character that the request')
  })

  test('is that of Scrapy by default', () => {
    expect(fingerprint(new Request('https://example.org'))).toBe('c03485502caa9106f874b4bd2ad9e98a3a6dc36c')
    expect(fingerprint(new Request('http://example.org'))).toBe('7873d70c33756a15fed7649ba909e064bf9c5844')
  })

  test('differs between the three algorithms, so a filter of one tool is not mistaken for another', () => {
    const request = new Request('https://example.org/')
    const all = (['scrapy', 'scrapy-redis', 'scrapy-2.6'] as const).map((algorithm) =>
      fingerprint(request, { algorithm }),
    )
    expect(new Set(all).size).toBe(3)
  })

  test('escapes quotes, backslashes, DEL and non-ASCII of a verbatim URL as Python does, a UTF-16 unit at a time', () => {
    const request = new Request('http://e.com/"\\\x7fé😀\n', { meta: { verbatim_url: true } })
    // sha1 of {"body": "", "headers": {}, "method": "GET", "url": "http://e.com/\"\\\u007f\u00e9\ud83d\ude00\n"}
    expect(fingerprint(request)).toBe('6666efe188d08bd09cf1aa535e149f9856095251')
  })

  test('does not make headers or meta of a request that has none', () => {
    const request = new Request('http://e.com/')
    fingerprint(request, { includeHeaders: ['Accept'] })
    expect(request.hasHeaders).toBe(false)
    expect(request.hasMeta).toBe(false)
  })

  test('sees a body that is a part of a larger buffer, and nothing around it', () => {
    const body = Buffer.from('xxabcxx').subarray(2, 5)
    const whole = new Request('http://e.com/', { method: 'POST', body: 'abc' })
    for (const algorithm of ['scrapy', 'scrapy-redis', 'scrapy-2.6'] as const) {
      const part = new Request('http://e.com/', { method: 'POST', body })
      expect(fingerprint(part, { algorithm })).toBe(fingerprint(whole, { algorithm }))
    }
  })
})

describe('the algorithm scrapy-2.6', () => {
  test('knows URLs as the w3lib of its time wrote them: user names in lower case, IPv6 without brackets', () => {
    const old = (url: string) => fingerprint(new Request(url), { algorithm: 'scrapy-2.6' })
    expect(old('http://User:Pass@e.com/A@B')).toBe(old('http://user:pass@e.com/A@B'))
    expect(old('http://e.com/A@B')).not.toBe(old('http://e.com/a@b'))
    // sha1 of GEThttp://::1/a
    expect(old('http://[::1]/a')).toBe('fdd0ee592307e3bb5373cbccbe52f8ef46c13494')
  })
})

describe('a fingerprinter', () => {
  test('answers as fingerprint does, and the same again', () => {
    const fingerprinter = createFingerprinter({ algorithm: 'scrapy-redis' })
    const request = new Request('http://e.com/?b&a')
    expect(fingerprinter.name).toBe('scrapy-redis')
    expect(fingerprinter.fingerprint(request)).toBe(fingerprint(request, { algorithm: 'scrapy-redis' }))
    expect(fingerprinter.fingerprint(request)).toBe(fingerprint(request, { algorithm: 'scrapy-redis' }))
  })

  test('keeps its answers apart from those of a fingerprinter with other options', () => {
    const request = new Request('http://e.com/#f')
    const without = createFingerprinter().fingerprint(request)
    const withFragment = createFingerprinter({ keepFragments: true }).fingerprint(request)
    expect(withFragment).not.toBe(without)
  })

  test('is called scrapy by default', () => {
    expect(createFingerprinter().name).toBe('scrapy')
  })
})

function requestOf({ url, method, bodyHex, headers, encoding, meta }: Golden): Request {
  return new Request(url, {
    ...(method !== undefined && { method }),
    ...(bodyHex !== undefined && { body: Buffer.from(bodyHex, 'hex') }),
    ...(headers && { headers }),
    ...(encoding !== undefined && { encoding }),
    ...(meta && { meta }),
  })
}

function read(name: string): Golden[] {
  const text = readFileSync(new URL(`../../testdata/${name}.json`, import.meta.url), 'utf8')
  return (JSON.parse(text) as { cases: Golden[] }).cases
}
