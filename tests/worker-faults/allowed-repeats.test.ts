import type { Hit } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { allowedRepeats } from './allowed-repeats.ts'

const LINKS: Readonly<Record<string, readonly string[]>> = {
  '/early': ['/known'],
  '/held': ['/new', '/known'],
  '/lately': ['/new', '/other'],
  '/elsewhere': ['/last'],
}
const web = {
  page: (url: string) => (url in LINKS ? ({ url, links: LINKS[url] } as never) : undefined),
}
const hit = (url: string, atMs: number, endedAtMs?: number, of = 'lost') =>
  ({
    url,
    atMs,
    headers: { 'user-agent': of },
    ...(endedAtMs !== undefined && { endedAtMs }),
  }) as unknown as Hit
const HITS = [
  hit('/early', 1000, 1100),
  hit('/robots.txt', 4000, 4010),
  hit('/lately', 4200, 4500),
  hit('/held', 4900),
  hit('/elsewhere', 4900, 4950, 'other'),
]

const isOfLost = ({ headers }: Hit) => headers['user-agent'] === 'lost'

test('a page that was held may be fetched again, and what it and those before it were first to link to', () => {
  expect(allowedRepeats(web, HITS, { killedAtMs: 5000, heldMax: 1, isOfLost })).toBe(1 + 2)
  expect(allowedRepeats(web, HITS, { killedAtMs: 5000, heldMax: 8, isOfLost })).toBe(2 + 2)
  expect(allowedRepeats(web, HITS, { killedAtMs: 5000, heldMax: 8 })).toBe(3 + 3)
})

test('what was handed on more than a second ago is not repeated', () => {
  expect(allowedRepeats(web, HITS, { killedAtMs: 3000, heldMax: 8, isOfLost })).toBe(0)
})
