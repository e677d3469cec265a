import { describe, expect, test } from 'vitest'
import { referrerPolicyFor } from './referrer-policy-for.ts'
import { Request } from './request.ts'
import { Response } from './response.ts'

describe('the policy of a request', () => {
  const policy = (meta: string | undefined, headers: string[] = []) =>
    referrerPolicyFor(
      new Request('http://x/', meta === undefined ? {} : { meta: { referrer_policy: meta } }),
      new Response('http://x/', { headers: headers.map((value) => ['referrer-policy', value] as const) }),
      'origin',
    )

  test('is that of its meta, else of the page, else of the settings', () => {
    expect(policy('no-referrer', ['unsafe-url'])).toBe('no-referrer')
    expect(policy(undefined, ['unsafe-url'])).toBe('unsafe-url')
    expect(policy(undefined)).toBe('origin')
  })

  test('of a list is the last that is known', () => {
    expect(policy(undefined, ['no-referrer, Unsafe-URL, new-fashioned'])).toBe('unsafe-url')
    expect(policy(undefined, ['unsafe-url', 'no-referrer'])).toBe('no-referrer')
    expect(policy(undefined, ['nonsense'])).toBe('origin')
    expect(policy('nonsense', ['unsafe-url'])).toBe('origin')
    expect(policy('')).toBe('no-referrer-when-downgrade')
  })

  test("may be named by Scrapy's classes", () => {
    const path = 'scrapy.spidermiddlewares.referer.'
    expect(policy(`${path}StrictOriginWhenCrossOriginPolicy`)).toBe('strict-origin-when-cross-origin')
    expect(policy(`${path}UnsafeUrlPolicy`)).toBe('unsafe-url')
    expect(policy(`${path}DefaultReferrerPolicy`)).toBe('scrapy-default')
  })
})
