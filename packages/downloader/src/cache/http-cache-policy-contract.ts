import assert from 'node:assert/strict'
import { Request, Response } from '@webloom/core'
import { type ContractTests, type Implementation, runContract, type TestRunner } from '@webloom/core/contract'
import type { CachedResponse, HttpCachePolicy } from './http-cache-policy.ts'

const PAGE_URL = 'https://example.com/'
const HOUR_MS = 3_600_000
const CONDITIONS = ['if-none-match', 'if-modified-since']

const page = (headers: Readonly<Record<string, string>> = {}, status = 200) =>
  new Response(PAGE_URL, { status, headers, body: 'hello' })

/** An answer to `request` that came so long ago. */
function cached(response: Response, agoMs = 0, request = new Request(PAGE_URL)): CachedResponse {
  return { response, requestHeaders: request.headers, storedAtMs: Date.now() - agoMs }
}

/** Answers as sites give them, and some whose headers make no sense. */
const ANSWERS: readonly Response[] = [
  page({ 'cache-control': 'max-age=60' }),
  page({ 'cache-control': 'max-age=60', etag: '"1"', 'last-modified': 'Mon, 02 Nov 2026 08:00:00 GMT' }),
  page({ 'cache-control': 'no-cache', etag: '"1"' }),
  page({ 'cache-control': 'no-store' }),
  page({
    'cache-control': 'max-age=-1, =, max-age=x',
    expires: '0',
    date: 'yesterday',
    age: 'old',
    vary: ',',
  }),
  page({ 'last-modified': '', etag: '' }),
  page(),
  page({}, 404),
  page({ 'retry-after': '5' }, 503),
]

const TESTS: ContractTests<HttpCachePolicy> = {
  'an answer that holds for an hour is kept, and is given again to the same request': async (policy) => {
    const request = new Request(PAGE_URL)
    const response = page({ 'cache-control': 'max-age=3600' })
    assert.equal(policy.mayCacheRequest(request), true)
    assert.equal(policy.mayStore(response, request), true)
    assert.equal(policy.answers(cached(response), request), true)
    assert.equal(policy.isFresh(cached(response), request), true)
  },
  'it decides by what it is given: asked again, it answers the same, and it changes nothing': async (
    policy,
  ) => {
    for (const response of ANSWERS) {
      const request = new Request(PAGE_URL, { headers: { 'x-own': '1' } })
      const stored = cached(response, HOUR_MS)
      const before = JSON.stringify([...request.headers, ...response.headers, response.status])
      const decide = () => [
        policy.mayCacheRequest(request),
        policy.mayStore(response, request),
        policy.answers(stored, request),
        policy.isFresh(stored, request),
        policy.validators(stored),
        policy.holdsOn(stored, page({}, 503)),
        policy.survivesFailure(stored),
        policy.invalidates(request, response),
      ]
      assert.deepEqual(decide(), decide())
      assert.equal(JSON.stringify([...request.headers, ...response.headers, response.status]), before)
    }
  },
  'validators are conditions that a server knows, with values of the kept answer': async (policy) => {
    for (const response of ANSWERS) {
      const known = [...response.headers].map(([, value]) => value)
      for (const [name, value] of Object.entries(policy.validators(cached(response)))) {
        assert.ok(CONDITIONS.includes(name), name)
        assert.ok(known.includes(value), value)
      }
    }
  },
  'what is asked about with validators holds on when the server answers 304': async (policy) => {
    for (const response of ANSWERS) {
      const stale = cached(response, HOUR_MS)
      if (Object.keys(policy.validators(stale)).length > 0)
        assert.equal(policy.holdsOn(stale, page({}, 304)), true)
    }
  },
  'a new page takes the place of one that is no longer fresh': async (policy) => {
    for (const response of ANSWERS) {
      const old = cached(response, 1000 * HOUR_MS)
      if (!policy.isFresh(old, new Request(PAGE_URL))) assert.equal(policy.holdsOn(old, page()), false)
    }
  },
  'a page that is read does not put itself out of date': async (policy) => {
    for (const response of ANSWERS) assert.equal(policy.invalidates(new Request(PAGE_URL), response), false)
  },
}

/** Every HttpCachePolicy runs this; a user's own too. */
export function httpCachePolicyContract(
  runner: TestRunner,
  implementation: Implementation<HttpCachePolicy>,
): void {
  runContract(runner, 'HttpCachePolicy', TESTS, implementation)
}
