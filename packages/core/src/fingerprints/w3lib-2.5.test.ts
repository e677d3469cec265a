import { readFileSync } from 'node:fs'
import { baseUrlOf, InvalidUrl, urlJoin } from '@webloom/url'
import { describe, expect, test } from 'vitest'
import { WebloomError } from '../errors/errors.ts'
import { putUnderRules, Request } from '../requests/request.ts'
import { requestFromJson, requestToJson } from '../requests/request-json.ts'
import { fingerprint } from './fingerprint.ts'

// Scrapy, w3lib and scrapy-redis of today answered these; a field whose name ends with err says that they refused.
interface Golden {
  readonly url: string
  readonly method: string
  /** In hex. */
  readonly body: string | null
  readonly headers: Record<string, string[]>
  readonly encoding: string
  readonly include: readonly string[]
  readonly keep: boolean
  readonly base: string
  readonly rel: string
  readonly err?: string
  readonly request_url?: string
  readonly fp0?: string
  readonly fp?: string
  readonly sr?: string
  readonly follow?: string
}

const { made_with: madeWith, cases } = JSON.parse(
  readFileSync(new URL('../../../url/testdata/w3lib-2.5.json', import.meta.url), 'utf8'),
) as { made_with: string; cases: Golden[] }
const rules = 'w3lib-2.5'

describe(`${cases.length} odd URLs, as ${madeWith}`, () => {
  test('followed from the base of a page', () => {
    for (const { base, rel, encoding, follow } of cases) {
      if (follow === undefined) continue
      const url = urlJoin(baseUrlOf('', base, encoding), rel)
      expect(new Request(url, { encoding }).url, `${rel} on ${base} in ${encoding}`).toBe(follow)
    }
  })

  test('as requests, with their fingerprints', () => {
    for (const golden of cases) {
      const context = JSON.stringify(golden)
      const request = orNone(() => requestOf(golden))
      if (request === undefined) {
        expect(golden.err, context).toBeDefined()
        continue
      }
      expect(request.url, context).toBe(golden.request_url)
      const { include: includeHeaders, keep: keepFragments } = golden
      expect(fingerprint(request, { rules }), context).toBe(golden.fp0)
      expect(fingerprint(request, { rules, includeHeaders, keepFragments }), context).toBe(golden.fp)
      expect(fingerprint(request, { rules, algorithm: 'scrapy-redis' }), context).toBe(golden.sr)
    }
  })

  test('a request that went by the rules of 2.4 for a while is what it was', () => {
    for (const golden of cases) {
      const request = orNone(() => requestOf(golden))
      if (request === undefined) continue
      if (orNone(() => putUnderRules(request, 'w3lib-2.4') ?? true) === undefined) continue
      putUnderRules(request, rules)
      expect(request.url).toBe(golden.request_url)
    }
  })

  test.each(['w3lib-2.4', 'w3lib-2.5'] as const)(
    'a request that was queued keeps its URL, by the rules of %s',
    (rules) => {
      for (const golden of cases) {
        const request = orNone(() => {
          const made = requestOf(golden)
          putUnderRules(made, rules)
          return made
        })
        if (request === undefined) continue
        const back = requestFromJson(requestToJson(request))
        putUnderRules(back, rules)
        expect(back.url).toBe(request.url)
        expect(fingerprint(back, { rules })).toBe(fingerprint(request, { rules }))
      }
    },
  )
})

function requestOf({ url, method, body, headers, encoding }: Golden): Request {
  return new Request(url, {
    method,
    headers,
    encoding,
    ...(body !== null && { body: Buffer.from(body, 'hex') }),
  })
}

/** Undefined where it is refused. */
function orNone<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof InvalidUrl || error instanceof WebloomError) return undefined
    throw error
  }
}
