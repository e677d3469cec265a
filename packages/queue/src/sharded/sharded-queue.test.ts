import { Redis } from 'ioredis'
import { afterEach, expect, test, vi } from 'vitest'
import { BucketQueue } from '../buckets/bucket-queue.ts'
import { CrawlChannel } from '../members/crawl-channel.ts'
import { crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { ShardedQueue } from './sharded-queue.ts'

afterEach(() => vi.restoreAllMocks())

test('a shard that is away does not hold up orders for hosts, for which heartbeats wait; one that refuses them is told of', async () => {
  const redis = new Redis({ lazyConnect: true })
  const keys = crawlRedisKeys({ spider: 'pages', crawlId: null })
  const pace = () => ({ delayMs: 0, concurrency: 0, randomize: false })
  const channel = new CrawlChannel({ redis, keys })
  const queue = new ShardedQueue({ redis, keys, channel, workerId: 'w', shards: 3, hosts: { pace } })
  const told = vi.spyOn(BucketQueue.prototype, 'steer').mockResolvedValue()

  told.mockImplementationOnce(() => new Promise(() => {}))
  await queue.steer(new Map())
  expect(told).toHaveBeenCalledTimes(3)
  told.mockRejectedValueOnce(new Error('OOM'))
  await expect(queue.steer(new Map())).rejects.toThrow('OOM')
})
