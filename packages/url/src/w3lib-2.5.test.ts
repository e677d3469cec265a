import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { canonicalizeUrl } from './canonicalize-url.ts'
import { InvalidUrl } from './errors.ts'
import { urlJoin } from './join.ts'
import { safeUrlString } from './safe-url.ts'

// w3lib of today answered these; where a field is absent, it refused.
interface Golden {
  readonly url: string
  readonly encoding: string
  readonly base: string
  readonly rel: string
  readonly canon?: string
  readonly canon_keep?: string
  readonly canon_noblank?: string
  readonly safe?: string
  readonly join?: string
}

const { made_with: madeWith, cases } = JSON.parse(
  readFileSync(new URL('../testdata/w3lib-2.5.json', import.meta.url), 'utf8'),
) as { made_with: string; cases: Golden[] }
const rules = 'w3lib-2.5'

describe(`${cases.length} odd URLs, as ${madeWith}`, () => {
  test('canonical', () => {
    for (const { url, canon, canon_keep, canon_noblank } of cases) {
      expect(
        orNone(() => canonicalizeUrl(url, { rules })),
        url,
      ).toBe(canon)
      expect(
        orNone(() => canonicalizeUrl(url, { rules, keepFragments: true })),
        url,
      ).toBe(canon_keep)
      expect(
        orNone(() => canonicalizeUrl(url, { rules, keepBlankValues: false })),
        url,
      ).toBe(canon_noblank)
    }
  })

  test('safe', () => {
    for (const { url, encoding, safe } of cases)
      expect(
        orNone(() => safeUrlString(url, { rules, encoding })),
        `${url} in ${encoding}`,
      ).toBe(safe)
  })

  test('joined', () => {
    for (const { base, rel, join } of cases) {
      expect(
        orNone(() => urlJoin(base, rel)),
        `${rel} on ${base}`,
      ).toBe(join)
    }
  })
})

/** Undefined where it is refused. */
function orNone<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof InvalidUrl) return undefined
    throw error
  }
}
