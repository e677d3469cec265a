import { readFileSync } from 'node:fs'
import { IN_FULL } from '@webloom/testkit'
import { canonicalizeUrl } from '@webloom/url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { HeadersInit } from '../requests/headers.ts'
import { putUnderRules, Request } from '../requests/request.ts'
import { fingerprint } from './fingerprint.ts'

interface Golden {
  readonly url: string
  readonly error?: string
  readonly method?: string
  readonly body?: string
  readonly headers?: HeadersInit
  readonly include?: readonly string[]
  readonly keep?: boolean
  readonly request_url: string
  readonly scrapy: string
  readonly scrapy_redis: string
}

const { source, cases } = JSON.parse(
  readFileSync(new URL('../../testdata/fingerprint-golden.json', import.meta.url), 'utf8'),
) as { source: string; cases: Golden[] }

describe(`requests made by ${source}`, () => {
  test.each(cases.map((golden) => [`${golden.method ?? 'GET'} ${golden.url}`, golden] as const))(
    '%s',
    (_, golden) => {
      const make = () =>
        new Request(golden.url, {
          method: golden.method ?? 'GET',
          body: golden.body ?? '',
          ...(golden.headers && { headers: golden.headers }),
        })
      if (golden.error) return expect(make).toThrow()
      const request = make()
      const rules = 'w3lib-2.4'
      const options = {
        includeHeaders: golden.include ?? [],
        keepFragments: golden.keep ?? false,
        rules,
      } as const
      expect(fingerprint(request, options)).toBe(golden.scrapy)
      expect(fingerprint(request, { algorithm: 'scrapy-redis', rules })).toBe(golden.scrapy_redis)
      putUnderRules(request, rules)
      expect(request.url).toBe(golden.request_url)
      expect(fingerprint(request, options)).toBe(golden.scrapy)
    },
  )
})

// The seed is printed by fast-check when a property fails; this one makes every run the same.
const RUNS = { seed: 20261121, numRuns: IN_FULL ? 2000 : 250 }

/** Strings that are often URLs, and often nearly. */
const urlish = fc.oneof(
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc
    .tuple(
      fc.constantFrom('http://', 'https://', 'ftp://', 'HTTP://', 'about:', 'data:'),
      fc.string({ unit: 'binary' }),
    )
    .map(([scheme, rest]) => scheme + rest),
  fc.tuple(fc.webUrl(), fc.string({ unit: 'grapheme' })).map(([url, rest]) => url + rest),
  fc.string({ unit: 'binary' }),
)

describe('for any string', () => {
  test('a URL that Request accepts has a canonical form, and that of its safe form is the same', () => {
    fc.assert(
      fc.property(urlish, (text) => {
        const request = attempt(() => new Request(text))
        if (request) expect(typeof canonicalizeUrl(request.url)).toBe('string')
      }),
      RUNS,
    )
  })

  test('what Request refuses it refuses with InvalidUrl, never with another error', () => {
    fc.assert(
      fc.property(urlish, (text) => {
        try {
          new Request(text)
        } catch (error) {
          expect((error as { code?: string }).code, String(error)).toBe('WL_URL_INVALID')
        }
      }),
      RUNS,
    )
  })
})

describe('equal requests have equal fingerprints', () => {
  const pair = fc.tuple(fc.stringMatching(/^[a-z0-9]{1,6}$/), fc.string({ unit: 'grapheme', maxLength: 8 }))

  test('in any order of their query', () => {
    fc.assert(
      fc.property(
        fc.array(pair, { minLength: 1, maxLength: 8 }),
        fc.infiniteStream(fc.nat()),
        (pairs, numbers) => {
          const query = (list: readonly (readonly [string, string])[]) =>
            list.map(([key, value]) => `${key}=${encodeURIComponent(value.toWellFormed())}`).join('&')
          const shuffled = pairs
            .map((one) => ({ one, at: numbers.next().value as number }))
            .sort((a, b) => a.at - b.at)
            .map(({ one }) => one)
          const [a, b] = [pairs, shuffled].map((list) => new Request(`https://example.com/p?${query(list)}`))
          for (const algorithm of ['scrapy', 'scrapy-redis', 'scrapy-2.6'] as const) {
            expect(fingerprint(a!, { algorithm })).toBe(fingerprint(b!, { algorithm }))
          }
        },
      ),
      RUNS,
    )
  })

  test('in any order and case of the headers that count', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[A-Za-z][A-Za-z-]{0,6}$/), {
      minLength: 1,
      maxLength: 6,
      selector: (name) => name.toLowerCase(),
    })
    fc.assert(
      fc.property(names, fc.boolean(), (list, upper) => {
        const headers = list.map((name) => [name, `value of ${name.toLowerCase()}`] as const)
        const changed = headers
          .toReversed()
          .map(([name, value]) => [upper ? name.toUpperCase() : name.toLowerCase(), value] as const)
        const [a, b] = [headers, changed].map(
          (pairs) => new Request('https://example.com/', { headers: pairs }),
        )
        const lower = list.map((name) => name.toLowerCase())
        expect(fingerprint(a!, { includeHeaders: lower })).toBe(
          fingerprint(b!, { includeHeaders: lower.toReversed() }),
        )
      }),
      RUNS,
    )
  })
})

function attempt<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    // Refused: the property says nothing about it.
    return undefined
  }
}
