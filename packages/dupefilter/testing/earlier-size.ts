import { Request } from '@webloom/core'
import { expect, test } from 'vitest'
import type { RecordedBloomDupeFilter } from '../src/bloom/recorded-bloom-dupefilter.ts'
import type { RedisDupeFilterOptions } from '../src/redis/redis-dupefilter-options.ts'
import type { FilterBench } from './filter-bench.ts'

/** What a Bloom filter on Redis does with the record of a release that made fewer bits of the same capacity. */
export function goesOnWithEarlierSize(
  bench: FilterBench,
  maker: (size: {
    capacity: number
    errorRate: number
  }) => (options: RedisDupeFilterOptions) => RecordedBloomDupeFilter,
): void {
  test('a filter of an earlier release goes on with the size that it made of the same capacity', async () => {
    const [redis, key] = [bench.connect(), bench.nextKey()]
    const [size, record] = [{ capacity: 1000, errorRate: 0.01 }, `{${key}}:record`]
    await (await bench.open(maker(size), { key })).close()
    const begun = { bits: 9586, blocks: 1, hashes: 7 }
    const noted = JSON.parse((await redis.hget(record, 'parameters'))!)
    expect(noted.bits).toBe(9596)
    await redis.hset(record, 'parameters', JSON.stringify({ ...noted, ...begun }))
    await redis.hset(record, 'layer:0', JSON.stringify({ ...begun, ...size }))
    const filter = await bench.open(maker(size), { key })
    const some = Array.from({ length: 900 }, (_, n) => new Request(`https://example.com/page/${n}`))
    await filter.requestsSeen(some.slice(0, 450), 'page')
    await filter.requestsSeen(some.slice(450), 'page')
    expect(await filter.describe()).toMatchObject({ bits: 9586, hashes: 7 })
    expect(await filter.has(some[0]!)).toBe(true)
    await expect(bench.open(maker({ ...size, capacity: 1001 }), { key })).rejects.toThrow(
      'was begun with bits 9586',
    )
  })
}
