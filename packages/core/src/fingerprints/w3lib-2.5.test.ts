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
      same(new Request(url, { encoding }).url, follow, `${rel} on ${base} in ${encoding}`)
    }
  })

  test('as requests, with their fingerprints', () => {
    for (const golden of cases) {
      const request = orNone(() => requestOf(golden))
      if (request === undefined) {
        same(golden.err !== undefined, true, golden)
        continue
      }
      same(request.url, golden.request_url, golden)
      const { include: includeHeaders, keep: keepFragments } = golden
      same(fingerprint(request, { rules }), golden.fp0, golden)
      same(fingerprint(request, { rules, includeHeaders, keepFragments }), golden.fp, golden)
      same(fingerprint(request, { rules, algorithm: 'scrapy-redis' }), golden.sr, golden)
    }
  })

  test('a request that went by the rules of 2.4 for a while is what it was', () => {
    for (const golden of cases) {
      const request = orNone(() => requestOf(golden))
      if (request === undefined) continue
      if (orNone(() => putUnderRules(request, 'w3lib-2.4') ?? true) === undefined) continue
      putUnderRules(request, rules)
      same(request.url, golden.request_url, golden)
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
        same(back.url, request.url, golden)
        same(fingerprint(back, { rules }), fingerprint(request, { rules }), golden)
      }
    },
  )
})

/** As expect() does, which takes longer than what is compared where they are the same. */
function same(one: unknown, other: unknown, context: unknown): void {
  if (one !== other) expect(one, JSON.stringify(context)).toBe(other)
}

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
