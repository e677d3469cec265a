import { fingerprint, Request } from '@webloom/core'
import { dupeFilterContract } from '@webloom/core/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FilterBench } from '../testing/filter-bench.ts'
import { RedisSetDupeFilter, type RedisSetDupeFilterOptions } from './redis-set-dupefilter.ts'

const bench = new FilterBench()
const make = (options: RedisSetDupeFilterOptions) => new RedisSetDupeFilter(options)
beforeAll(() => bench.start())
afterAll(() => bench.stop())

dupeFilterContract({ describe, test }, { name: 'RedisSetDupeFilter', ...bench.contract(make) })

const page = (n: number) => new Request(`https://example.com/page/${n}`)

test('a set that scrapy-redis filled goes on being used, and is filled further as scrapy-redis does', async () => {
  const redis = bench.connect()
  const key = bench.nextKey()
  const request = new Request('https://quotes.toscrape.com/page/1/')
  // What scrapy-redis records for this page.
  await redis.sadd(key, fingerprint(request, { algorithm: 'scrapy-redis' }))
  const filter = await bench.open(make, { redis, key })
  expect(await filter.requestSeen(request)).toBe(true)
  expect(await filter.requestSeen(page(1))).toBe(false)
  expect((await redis.smembers(key)).every((member) => /^[0-9a-f]{40}$/.test(member))).toBe(true)
})
