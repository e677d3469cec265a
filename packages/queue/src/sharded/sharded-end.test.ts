import { Request, scaledTimes } from '@webloom/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { CrawlChannel } from '../members/crawl-channel.ts'
import { adoptCrawl } from '../outside/crawl-control.ts'
import { ShardedQueue } from './sharded-queue.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test('as long as somebody brings requests from outside, the first look says that the crawl is not over', async () => {
  const keys = bench.nextKeys()
  const { redis } = bench
  const times = scaledTimes(0.01)
  const pace = () => ({ delayMs: 0, concurrency: 0, randomize: false })
  const channel = new CrawlChannel({ redis, keys })
  const queue = new ShardedQueue({ redis, keys, channel, workerId: 'w', shards: 2, hosts: { pace }, times })
  await bench.record(keys, { shards: 2 }).open()
  await queue.clear()
  await redis.hset(keys.record, 'startEnded', '1')
  await adoptCrawl({ redis, keys }, { shards: 2 })
  expect(await queue.isOver()).toBeUndefined()
  await redis.hdel(keys.record, 'bringsUntil')
  expect(await queue.isOver()).toBe(0)
})

test('a seed that comes to the home behind the last look at it keeps the crawl from being finished', async () => {
  const keys = bench.nextKeys()
  const { redis } = bench
  const channel = new CrawlChannel({ redis, keys })
  const pace = () => ({ delayMs: 0, concurrency: 0, randomize: false })
  const queue = new ShardedQueue({ redis, keys, channel, workerId: 'w', shards: 2, hosts: { pace } })
  const seed = { id: 'a', request: new Request('http://a.test/') }
  let pushes = () => queue.push([seed], 'seed/1')
  const isOver = async () => {
    await pushes()
    return 0
  }
  const record = bench.record(keys, { shards: 2, isOver })
  await record.open()
  await queue.clear()
  await redis.hset(keys.record, 'startEnded', '1')
  expect(await record.finish()).toBe(false)

  // The shard has done it.
  await queue.clear()
  pushes = async () => 0
  expect(await record.finish()).toBe(true)
})
