import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { clearCrawl } from '../outside/crawl-control.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { CrawlShards } from '../shards/crawl-shards.ts'
import { clearFormerShards } from './former-shards.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

/** A run with so many shards, each of which knows of it; it ends, and nothing that is owed to the crawl is done. */
async function runOf(keys: CrawlRedisKeys, shards: number): Promise<void> {
  const record = bench.record(keys, { shards, begins: true })
  await record.open()
  for (const shard of new CrawlShards(keys, shards).queues)
    if (shard !== keys) await bench.redis.hset(shard.record, 'run', record.run.id)
  await bench.redis.hset(keys.record, 'state', 'finished')
}

const knowing = async (keys: CrawlRedisKeys) =>
  (await bench.redis.keys(`*${keys.queueName.slice(1, -1)}#*:record`))
    .map((key) => /#(\d+)/.exec(key)![1])
    .sort()

test('shards that nobody has emptied yet are emptied by a later run: those of each number that there was', async () => {
  const keys = bench.nextKeys()
  for (const shards of [3, 102, 1, 2]) await runOf(keys, shards)
  expect((await knowing(keys)).length).toBe(3 + 102 + 2)
  await clearFormerShards(bench.redis, keys, 2)
  expect(await knowing(keys)).toEqual(['00', '01'])
  expect(await bench.redis.hexists(keys.record, 'shardsBefore')).toBe(0)
})

test('a clearing that is cut off leaves them to the next', async () => {
  const keys = bench.nextKeys()
  for (const shards of [3, 2]) await runOf(keys, shards)
  const statsKey = bench.statsKey(keys)
  const clear = () => Promise.reject(new Error('killed'))
  await expect(clearCrawl({ redis: bench.redis, keys, statsKey, force: true, clear })).rejects.toThrow(
    'killed',
  )
  await clearFormerShards(bench.redis, keys, 2)
  expect(await knowing(keys)).toEqual(['00', '01'])
})
