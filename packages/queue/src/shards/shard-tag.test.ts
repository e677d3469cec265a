import { startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { shardName } from './shard-of.ts'
import { shardTag } from './shard-tag.ts'

test('the shards of a crawl are spread evenly over the slots of a cluster, as its servers reckon them', async () => {
  await using redis = await startRedis({ config: { 'cluster-enabled': 'yes' } })
  for (const [shards, masters] of [
    [6, 3],
    [48, 3],
    [48, 4],
    [256, 64],
  ] as const) {
    const tags = Array.from({ length: shards }, (_, n) =>
      shardTag('{bücher@1}', shardName(n, shards), shards),
    )
    const slots = await Promise.all(
      tags.map((tag) => redis.command('CLUSTER', 'KEYSLOT', `webloom:${tag}:record`)),
    )
    const each = new Map<number, number>()
    for (const slot of slots.map(Number)) {
      const master = Math.floor((slot * masters) / 16_384)
      each.set(master, (each.get(master) ?? 0) + 1)
    }
    expect([...each.values()]).toEqual(Array(masters).fill(shards / masters))
  }
})

test('a tag stays what it is from release to release', () => {
  expect(shardTag('{quotes}', '07', 48)).toBe('{quotes#07.353}')
})
