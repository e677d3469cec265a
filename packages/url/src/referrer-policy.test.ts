import { describe, expect, test } from 'vitest'
import { type ReferrerPolicy, referrerOf, referrerPolicyNamed } from './referrer-policy.ts'

const PAGE = 'https://a.com/page?q=1'
const SAME = 'https://a.com/other'
const CROSS = 'https://b.com/'
const DOWN = 'http://b.com/'
const ORIGIN = 'https://a.com/'

describe('the Referrer Policy standard: what goes to the same origin, another one, and a less safe one', () => {
  test.each<[ReferrerPolicy, string | null, string | null, string | null]>([
    ['no-referrer', null, null, null],
    ['no-referrer-when-downgrade', PAGE, PAGE, null],
    ['same-origin', PAGE, null, null],
    ['origin', ORIGIN, ORIGIN, ORIGIN],
    ['strict-origin', ORIGIN, ORIGIN, null],
    ['origin-when-cross-origin', PAGE, ORIGIN, ORIGIN],
    ['strict-origin-when-cross-origin', PAGE, ORIGIN, null],
    ['unsafe-url', PAGE, PAGE, PAGE],
    ['scrapy-default', PAGE, PAGE, null],
  ])('%s', (policy, same, cross, down) => {
    expect([SAME, CROSS, DOWN].map((to) => referrerOf(policy, PAGE, to))).toEqual([same, cross, down])
  })

  test('from http everything is as safe as it was', () => {
    for (const policy of ['strict-origin', 'no-referrer-when-downgrade', 'scrapy-default'] as const)
      expect(referrerOf(policy, 'http://a.com/', 'http://b.com/'), policy).toBe('http://a.com/')
  })

  test('another scheme or port is another origin, a default port is none', () => {
    expect(referrerOf('same-origin', 'http://a.com/', 'https://a.com/')).toBe(null)
    expect(referrerOf('same-origin', 'http://a.com:8080/', 'http://a.com/')).toBe(null)
    expect(referrerOf('same-origin', 'http://a.com:80/x', 'http://a.com/')).toBe('http://a.com/x')
    expect(referrerOf('same-origin', 'https://a.com:443/x', 'https://a.com/')).toBe('https://a.com/x')
  })
})

describe('a referrer', () => {
  test.each([
    ['http://user:pass@a.com/x#part', 'http://a.com/x'],
    ['http://a.com', 'http://a.com'],
    ['http://a.com/a%7Eb/../c?x=%C3%A9', 'http://a.com/a%7Eb/../c?x=%C3%A9'],
    ['http://[::1]:8080/x', 'http://[::1]:8080/x'],
  ])('of %s is %s', (from, referrer) =>
    expect(referrerOf('unsafe-url', from, 'http://b.com/')).toBe(referrer),
  )

  test('is never a URL that no site served', () => {
    for (const url of [
      'data:text/html,x',
      'about:blank',
      'blob:https://a.com/1',
      'filesystem:https://a.com/1',
    ])
      expect(referrerOf('unsafe-url', url, 'http://b.com/'), url).toBe(null)
  })

  test("by Scrapy's default is not a file either", () => {
    expect(referrerOf('scrapy-default', 'file:///home/me/x.html', 'http://b.com/')).toBe(null)
    expect(referrerOf('scrapy-default', 's3://bucket/key', 'http://b.com/')).toBe(null)
  })

  test('that is longer than 4 096 characters is cut down to the origin', () => {
    expect(referrerOf('unsafe-url', `http://a.com/${'x'.repeat(5000)}`, 'http://b.com/')).toBe(
      'http://a.com/',
    )
  })
})

test.each([
  [['no-referrer, Unsafe-URL, new-fashioned'], 'unsafe-url'],
  [['unsafe-url', 'no-referrer'], 'no-referrer'],
  [['nonsense'], undefined],
  [[''], 'no-referrer-when-downgrade'],
  [[], undefined],
])('the policy that a header names, as %j, is %s', (values, policy) => {
  expect(referrerPolicyNamed(values)).toBe(policy)
})
