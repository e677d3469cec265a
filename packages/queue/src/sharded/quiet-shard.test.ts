/** A shard that has nothing is left alone; whatever script brings something tells all workers in that step. */

import { PROTOCOL_TIMES, Request } from '@webloom/core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { RedisBench } from '../../testing/redis-bench.ts'
import { BucketScripts } from '../buckets/scripts/bucket-scripts.ts'
import { ShardScripts } from '../buckets/scripts/shard-scripts.ts'
import { packRequest } from '../leasing/packed-request.ts'
import { CrawlChannel } from '../members/crawl-channel.ts'
import { CrawlShards, HOME } from '../shards/crawl-shards.ts'
import { ShardRest } from '../shards/shard-rest.ts'

const bench = new RedisBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const text = packRequest({ id: '1', request: new Request('http://a.test/') })
const { owedMs } = PROTOCOL_TIMES.turns

/** The scripts of a shard, and of the home, with what their workers hear. */
async function heard(shard: string) {
  const { redis } = bench
  const keys = new CrawlShards(bench.nextKeys(), 2).keysOf(shard)
  const options = { redis, keys, order: 'priority' } as const
  const channel = new CrawlChannel({ redis, keys })
  const rest = new ShardRest()
  channel.listen(rest.hears)
  await channel.open()
  await redis.hset(keys.record, 'run', 'r')
  const becomes = (isQuiet: boolean) => vi.waitUntil(() => rest.isQuiet === isQuiet, { interval: 5 })
  const isStill = (still: boolean) => vi.waitUntil(() => rest.isStill === still, { interval: 5 })
  return {
    keys,
    rest,
    becomes,
    isStill,
    channel,
    scripts: new BucketScripts({ ...options, isShard: true }),
    shards: new ShardScripts(options),
  }
}

const push = (scripts: BucketScripts, bucket: string) =>
  scripts.push({
    command: { worker: 'w', run: '', number: 1, answered: 0 },
    asker: 'start/0',
    isNoting: false,
    groups: [{ place: 'end', bucket, slot: 'a.test', priority: 0, requests: [{ id: '1', text }] }],
  })

test('a shard is quiet when a sweep has found nothing, until the step that brings it something', async () => {
  const { keys, rest, becomes, channel, scripts, shards } = await heard('00')
  expect(rest.isQuiet).toBe(false)
  await scripts.sweep('w', 0, owedMs)
  await becomes(true)
  expect([rest.mayDoubt, await bench.redis.hget(keys.frontierCounts, 'quiet')]).toEqual([false, 'r'])
  const entries = [`1\nstart/0\n#1\na.test\n0\n${text}`]
  await shards.apply('w', 'r', [{ sender: HOME, epoch: 'r.1', entries }])
  await becomes(false)
  await scripts.sweep('w', 0, owedMs)
  expect(await bench.redis.hget(keys.frontierCounts, 'quiet')).toBeNull()
  channel.close()
})

test('what is pushed there is told, too; what is added where something was is not', async () => {
  const { keys, rest, becomes, channel, scripts } = await heard('00')
  await scripts.sweep('w', 0, owedMs)
  await becomes(true)
  await push(scripts, '#1')
  await becomes(false)
  expect(rest.stirs).toBe(1)
  expect(await bench.redis.hget(keys.frontierCounts, 'quiet')).toBeNull()
  channel.close()
})

test('what has nothing for others says so when it is asked, until the step that brings something', async () => {
  const { rest, isStill, channel, scripts, shards } = await heard(HOME)
  await shards.shardState()
  expect(rest.isStill).toBe(false)
  await shards.shardState(true)
  await isStill(true)
  await push(scripts, '>00\nstart/0\n#1')
  await isStill(false)
  await shards.shardState(true)
  expect([...(await shards.shardState()).sent.keys()]).toEqual(['00'])
  expect(rest.isStill).toBe(false)
  channel.close()
})
