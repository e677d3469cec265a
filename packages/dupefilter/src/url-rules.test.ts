/** A filter that was begun by the rules of one w3lib is gone on with by them. */

import { CrawlUrlRules, createFingerprinter, fingerprint, Request, type UrlRules } from '@webloom/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FilterBench } from '../testing/filter-bench.ts'
import { RedisBloomDupeFilter } from './bloom/redis-bloom-dupefilter.ts'
import { RedisHostBloomDupeFilter } from './bloom/redis-host-bloom-dupefilter.ts'
import { CountingBloomDupeFilter } from './counting/counting-bloom-dupefilter.ts'
import type { RedisDupeFilter } from './redis/redis-dupefilter.ts'
import type { RedisDupeFilterOptions } from './redis/redis-dupefilter-options.ts'
import { RedisKeyDupeFilter } from './redis/redis-key-dupefilter.ts'
import { RedisSetDupeFilter } from './redis/redis-set-dupefilter.ts'
import { SplittableBloomDupeFilter } from './splittable/splittable-bloom-dupefilter.ts'

const bench = new FilterBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const by = (rules: UrlRules, isSet = false) =>
  createFingerprinter({ algorithm: 'scrapy-redis' }, undefined, new CrawlUrlRules(rules, isSet))
// `;` separates parameters by the rules of 2.4 only.
const odd = () => new Request('https://example.com/?b=1;a=2')

const KINDS: Record<string, (options: RedisDupeFilterOptions) => RedisDupeFilter> = {
  'redis-set': (options) => new RedisSetDupeFilter(options),
  'redis-key': (options) => new RedisKeyDupeFilter({ ...options, ttlMs: 3_600_000 }),
  'redis-bloom': (options) => new RedisBloomDupeFilter({ ...options, bit: 20 }),
  'redis-bloom by host': (options) => new RedisHostBloomDupeFilter({ ...options, bit: 16 }),
  'redis-bloom of a Python crawler': (options) =>
    new RedisBloomDupeFilter({ ...options, compat: 'germey', bit: 20 }),
  'counting-bloom': (options) => new CountingBloomDupeFilter({ ...options, bit: 18 }),
  'splittable-bloom': (options) => new SplittableBloomDupeFilter({ ...options, capacity: 1000 }),
}

describe.each(Object.entries(KINDS))('%s', (_name, make) => {
  test('is gone on with by the rules it was begun by, unless others were chosen', async () => {
    const redis = bench.connect()
    const key = bench.nextKey()
    const before = await bench.open(make, { redis, key, fingerprinter: by('w3lib-2.4') })
    expect(await before.requestSeen(odd())).toBe(false)

    const fingerprinter = by('w3lib-2.5')
    const after = await bench.open(make, { redis, key, fingerprinter })
    expect(fingerprinter.urlRules?.current).toBe('w3lib-2.4')
    expect(await after.describe()).toMatchObject({ fingerprinter: 'scrapy-redis', urlRules: 'w3lib-2.4' })
    expect(await after.requestSeen(odd())).toBe(true)

    await bench.open(make, { redis, key, fingerprinter: by('w3lib-2.4', true) })
    await expect(bench.open(make, { redis, key, fingerprinter: by('w3lib-2.5', true) })).rejects.toThrow(
      `URL_RULES is w3lib-2.5, and the dupefilter ${key} was begun by the rules of w3lib-2.4`,
    )
  })

  test('one of 2.5 says so, too', async () => {
    const redis = bench.connect()
    const key = bench.nextKey()
    const before = await bench.open(make, { redis, key, fingerprinter: by('w3lib-2.5') })
    await before.requestSeen(odd())
    const fingerprinter = by('w3lib-2.4')
    const after = await bench.open(make, { redis, key, fingerprinter })
    expect(await after.requestSeen(odd())).toBe(true)
    expect(fingerprinter.urlRules?.current).toBe('w3lib-2.5')
  })
})

test('a set of ours without a note of rules is of 2.4; one of Python’s goes by the settings', async () => {
  const redis = bench.connect()
  const [ours, pythons] = [bench.nextKey(), bench.nextKey()]
  await redis.sadd(ours, fingerprint(odd(), { algorithm: 'scrapy-redis', rules: 'w3lib-2.4' }))
  // As releases before URL_RULES left it.
  await redis.hset(`{${ours}}:record`, { generation: '1.2', fingerprinter: 'scrapy-redis' })
  await redis.sadd(pythons, fingerprint(odd(), { algorithm: 'scrapy-redis', rules: 'w3lib-2.5' }))
  for (const [key, rules] of [
    [ours, 'w3lib-2.4'],
    [pythons, 'w3lib-2.5'],
  ] as const) {
    const fingerprinter = by('w3lib-2.5')
    const filter = await bench.open((options) => new RedisSetDupeFilter(options), {
      redis,
      key,
      fingerprinter,
    })
    expect(fingerprinter.urlRules?.current).toBe(rules)
    expect(await filter.requestSeen(odd())).toBe(true)
  }
})
