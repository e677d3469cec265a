import { createFingerprinter, type KnownUrl, Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { Claim } from './claims.ts'
import { SeenCache, type Told } from './seen-cache.ts'

const TRUST_MS = 1000
const STALE_AT_MS = 500

test('a URL is marked once its fingerprint was found, until the cache is emptied', () => {
  const [cache, url] = [heardOfOnce(), newUrl()]
  cache.add('f', cache.forGood)
  expect(cache.isMarked(url, 'page', 0)).toBe(false)
  expect(cache.answer('f', 'page', 0, url)).toBe('seen')
  expect(cache.isMarked(url, 'page', 0)).toBe(true)
  expect(heardOfOnce().isMarked(url, 'page', 0), 'in another cache').toBe(false)
  cache.heardOf('second generation', 0)
  expect(cache.isMarked(url, 'page', 0)).toBe(false)
  expect(cache.answer('f', 'page', 0, url)).toBeUndefined()
})

test('a URL that Redis was asked about is marked with the answer', () => {
  const [cache, url] = [heardOfOnce(), newUrl()]
  cache.add('f', cache.forGood, url)
  expect(cache.isMarked(url, 'page', 0)).toBe(true)
})

test('a mark says no more than the cache would: nothing of a generation that was not heard of for long', () => {
  const [cache, url] = [heardOfOnce(), newUrl()]
  cache.add('f', cache.forGood)
  cache.answer('f', 'page', 0, url)
  expect(cache.isMarked(url, 'page', TRUST_MS)).toBe(true)
  expect(cache.isMarked(url, 'page', TRUST_MS + 1)).toBe(false)
})

test('nor to the asker that was told "new", nor once it is stale, nor of an attempt that is over', () => {
  const claim = new Claim('asker', 'attempt', 'run')
  const [cache, url] = [heardOfOnce(), newUrl()]
  const answers = (asker: string, nowMs = 0) => [
    cache.isMarked(url, asker, nowMs),
    cache.answer('f', asker, nowMs, url),
  ]
  cache.add('f', toldTo(cache, claim), url)
  expect(answers('page'), 'in doubt').toEqual([false, claim])
  claim.end('settled')
  expect(answers('page')).toEqual([true, 'seen'])
  expect(answers('asker')).toEqual([false, undefined])
  expect(answers('page', STALE_AT_MS + 1)).toEqual([false, undefined])
  claim.end('over')
  expect(answers('page')).toEqual([false, undefined])
})

test('of what is known until it may be stale it keeps a third as many as of what is seen for good, those told last', () => {
  const cache = heardOfOnce(600)
  const claim = new Claim('asker', 'attempt', 'run')
  for (let n = 0; n < 400; n++) cache.add(`told ${n}`, toldTo(cache, claim))
  for (let n = 0; n < 300; n++) cache.add(`seen ${n}`, cache.forGood)
  const known = (what: string, from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => `${what} ${from + n}`).filter(
      (fingerprint) => cache.answer(fingerprint, 'page', 0, undefined) !== undefined,
    ).length
  expect([known('told', 0, 200), known('told', 300, 400)]).toEqual([0, 100])
  expect(known('seen', 0, 300)).toBeGreaterThan(285)
})

test('a cache of no size keeps nothing, and marks no URL', () => {
  const [cache, url] = [heardOfOnce(0), newUrl()]
  cache.add('f', cache.forGood, url)
  expect([cache.isMarked(url, 'page', 0), cache.answer('f', 'page', 0, url)]).toEqual([false, undefined])
})

function heardOfOnce(size = 100): SeenCache {
  const cache = new SeenCache(size, TRUST_MS)
  cache.heardOf('first generation', 0)
  return cache
}

function toldTo(cache: SeenCache, claim: Claim): Told {
  return cache.told(claim.taggedAsker, STALE_AT_MS, claim)
}

function newUrl(): KnownUrl {
  return createFingerprinter().known!(new Request('http://a.com/'))!
}
