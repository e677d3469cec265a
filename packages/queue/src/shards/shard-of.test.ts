import { expect, test } from 'vitest'
import { bucketOf, bucketsOfShard } from '../politeness/bucket-of.ts'
import { shardName, shardOf } from './shard-of.ts'

const SLOTS = Array.from({ length: 20_000 }, (_, n) => `host${n}.test`)

test('slots are spread evenly over shards, and those of a shard over all buckets', () => {
  const counts = Map.groupBy(SLOTS, (slot) => shardOf(slot, 12))
  expect([...counts.keys()].sort()).toEqual(Array.from({ length: 12 }, (_, n) => shardName(n, 12)))
  for (const slots of counts.values()) {
    expect(slots.length / (SLOTS.length / 12)).toBeCloseTo(1, 0)
    expect(new Set(slots.map((slot) => bucketOf(slot, bucketsOfShard(12)))).size).toBe(bucketsOfShard(12))
  }
})

test('a crawl has about as many buckets as one of one shard', () => {
  expect([1, 3, 12, 48, 1000].map((shards) => shards * bucketsOfShard(shards))).toEqual([
    256, 258, 264, 288, 1000,
  ])
})

test('a slot stays in its shard from release to release', () => {
  expect(['quotes.toscrape.com', '127.0.0.1', 'bücher.example'].map((slot) => shardOf(slot, 48))).toEqual([
    '32',
    '25',
    '14',
  ])
})

test('names have as many digits as the last one', () => {
  expect([shardName(7, 48), shardName(0, 2), shardName(7, 1000)]).toEqual(['07', '00', '007'])
})
