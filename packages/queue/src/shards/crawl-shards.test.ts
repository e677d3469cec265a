import { Request } from '@webloom/core'
import { startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { CrawlChannel } from '../members/crawl-channel.ts'
import { readSlot } from '../outside/bucket-slots.ts'
import { bucketOf } from '../politeness/bucket-of.ts'
import { crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { ShardedQueue } from '../sharded/sharded-queue.ts'
import { readShards } from './crawl-shards.ts'

const HOST = 'a.test'

test.each([
  ['2', 256],
  ['3', 86],
])('a crawl of three shards in form %s has %i buckets in each: a host is in one', async (format, buckets) => {
  await using server = await startRedis()
  const redis = new Redis(server.url)
  const keys = crawlRedisKeys({ spider: 'pages', crawlId: null })
  await redis.hset(keys.record, { run: 'r', state: 'running', shards: 3, format })
  const channel = new CrawlChannel({ redis, keys })
  const pace = () => ({ delayMs: 0, concurrency: 0, randomize: false })
  const queue = new ShardedQueue({ redis, keys, channel, workerId: 'w', shards: 3, hosts: { pace } })
  await channel.open()
  try {
    await queue.open()
    await queue.tellShards()
    await queue.push([{ id: '1', request: new Request(`http://${HOST}/`) }], 'asker')
    let [lease] = await queue.lease(1)
    while (!lease) [lease] = await queue.lease(1)
    await queue.retry(lease, lease.request, 60_000)
    const { frontier } = (await readShards(redis, keys)).ofSlot(HOST)
    await expect.poll(() => redis.exists(`${frontier}:late:${bucketOf(HOST, buckets)}`)).toBe(1)
    expect((await readSlot(redis, keys, HOST)).delayed).toBe(1)
  } finally {
    await queue.close()
    channel.close()
    redis.disconnect()
  }
})
