import { MemoryStatsCollector } from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { cookie, cookieJarStoreContract, PER_DOMAIN_MAX } from './cookie-jar-store-contract.ts'
import { MemoryCookieJarStore } from './memory-cookie-jar-store.ts'

const BOUNDS = { perDomainMax: PER_DOMAIN_MAX, cookiesMax: 1000, jarsMax: 10 }

cookieJarStoreContract(
  { describe, test },
  {
    name: 'MemoryCookieJarStore',
    create: async () => {
      const stats = new MemoryStatsCollector()
      return { subject: new MemoryCookieJarStore({ ...BOUNDS, stats }), dispose: async () => {} }
    },
  },
)

test('a long cookie counts for several, so that cookies take no more than 640 bytes each', () => {
  const stats = new MemoryStatsCollector()
  const store = new MemoryCookieJarStore({ ...BOUNDS, cookiesMax: 20, stats })
  const long = (domain: string) => store.keep('1', [cookie('long', 'x'.repeat(4000), { domain })])
  const kept = (domain: string) => store.cookies('1', [domain]).length
  store.keep('1', [cookie('short', 'x', { domain: 'short.test' })])
  for (const domain of ['a.test', 'b.test']) long(domain)
  expect(['short.test', 'a.test', 'b.test'].map(kept)).toEqual([1, 1, 1])
  // Set again it weighs once.
  for (let n = 0; n < 5; n++) long('a.test')
  expect(['short.test', 'b.test', 'a.test'].map(kept)).toEqual([1, 1, 1])
  long('c.test')
  expect(['short.test', 'b.test', 'a.test', 'c.test'].map(kept)).toEqual([0, 0, 1, 1])
  expect(stats.get('cookies/evicted')).toBe(2)
  store.keep('1', [cookie('long', '', { domain: 'a.test', expiresAtMs: 1 })])
  store.keep('1', [cookie('long', '', { domain: 'c.test', expiresAtMs: 1 })])
  expect(store.isEmpty).toBe(true)
})

test('a large store drops a sixty-fourth of its cookies at once, those that were used longest ago', () => {
  const stats = new MemoryStatsCollector()
  const store = new MemoryCookieJarStore({ ...BOUNDS, cookiesMax: 640, stats })
  const keep = (n: number) => store.keep('1', [cookie('short', 'x', { domain: `${n}.test` })])
  for (let n = 0; n < 640; n++) keep(n)
  store.cookies('1', ['0.test'])
  expect(stats.get('cookies/evicted')).toBeUndefined()
  keep(640)
  expect(stats.get('cookies/evicted')).toBe(11)
  expect(['0', '1', '11', '12', '640'].map((n) => store.cookies('1', [`${n}.test`]).length)).toEqual([
    1, 0, 0, 1, 1,
  ])
})
