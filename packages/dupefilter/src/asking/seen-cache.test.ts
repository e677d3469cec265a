import { hash } from 'node:crypto'
import { createFingerprinter, type KnownUrl, Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { Claim } from './claims.ts'
import { SeenCache, type SeenCacheOptions, type Told } from './seen-cache.ts'

const TRUST_MS = 1000
const STALE_AT_MS = 500
const STALE_AFTER_MS = 500

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

const isKnown = (cache: SeenCache, fingerprint: string, nowMs = 0) =>
  cache.answer(fingerprint, 'page', nowMs, undefined) !== undefined

test('answers that may change are kept until they are stale; one that is stale as it comes sends none away', () => {
  const cache = heardOfOnce()
  const told = (nowMs: number, untilMs: number, fingerprint: string) => {
    cache.heardOf('first generation', nowMs)
    cache.add(fingerprint, cache.told('asker', untilMs))
  }
  told(100, 600, 'fresh')
  told(100, 90, 'stale')
  told(200, 650, 'other')
  told(300, 250, 'stale, too')
  told(450, 950, 'last')
  const fingerprints = ['fresh', 'stale', 'other', 'stale, too', 'last']
  expect(fingerprints.filter((one) => isKnown(cache, one, 460))).toEqual(['fresh', 'other', 'last'])
})

test('of what may change two maps are kept, with as many each as the cache has room for', () => {
  const cache = heardOfOnce({ size: 10 })
  for (let n = 0; n < 35; n++) cache.add(`told ${n}`, cache.told('asker', STALE_AT_MS))
  const known = Array.from({ length: 35 }, (_, n) => n).filter((n) => isKnown(cache, `told ${n}`))
  expect(known).toEqual(Array.from({ length: 15 }, (_, n) => 20 + n))
})

test('what may change is kept for no longer than twice the time in which it becomes stale', () => {
  const cache = heardOfOnce()
  const claim = new Claim('asker', 'attempt', 'run')
  const untilLater = (nowMs: number, fingerprint: string) => {
    cache.heardOf('first generation', nowMs)
    cache.add(fingerprint, cache.told('asker', Number.MAX_VALUE, claim))
  }
  untilLater(0, 'a')
  untilLater(STALE_AFTER_MS + 1, 'b')
  expect(isKnown(cache, 'a', STALE_AFTER_MS + 1)).toBe(true)
  untilLater(2 * STALE_AFTER_MS + 2, 'c')
  expect(['a', 'b', 'c'].map((one) => isKnown(cache, one, 2 * STALE_AFTER_MS + 2))).toEqual([
    false,
    true,
    true,
  ])
})

test('of a fingerprinter of somebody’s own a text and its SHA-1 are two fingerprints, and so are capitals', () => {
  const sha1 = hash('sha1', 'a')
  for (const [one, other] of [
    ['a', sha1],
    [sha1, 'a'],
    [sha1, sha1.toUpperCase()],
    [sha1, `${sha1}0`],
  ] as const) {
    const cache = heardOfOnce({ isSha1: false })
    cache.add(one, cache.forGood)
    expect([isKnown(cache, one), isKnown(cache, other)], `${one} ${other}`).toEqual([true, false])
  }
})

test('a cache of no size keeps nothing, and marks no URL', () => {
  const [cache, url] = [heardOfOnce({ size: 0 }), newUrl()]
  cache.add('f', cache.forGood, url)
  expect([cache.isMarked(url, 'page', 0), cache.answer('f', 'page', 0, url)]).toEqual([false, undefined])
})

function heardOfOnce(options: Partial<SeenCacheOptions> = {}): SeenCache {
  const cache = new SeenCache({
    ...{ size: 100, isSha1: true, staleMs: STALE_AFTER_MS, trustMs: TRUST_MS },
    ...options,
  })
  cache.heardOf('first generation', 0)
  return cache
}

function toldTo(cache: SeenCache, claim: Claim): Told {
  return cache.told(claim.taggedAsker, STALE_AT_MS, claim)
}

function newUrl(): KnownUrl {
  return createFingerprinter().known!(new Request('http://a.com/'))!
}
