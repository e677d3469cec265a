import { requestQueueContract } from '@webloom/core/contract'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { crawlRedisKeys } from './crawl-redis-keys.ts'
import { HostTurnQueue } from './host-turn-queue.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(async () => {
  await server?.stop()
})

let crawls = 0

requestQueueContract(
  { describe, test },
  {
    name: 'HostTurnQueue',
    create: async ({ order = 'priority', delayMs = 0, concurrency = 0 }) => {
      const redis = new Redis(server.url, {
        maxRetriesPerRequest: null,
        lazyConnect: true,
        socketTimeout: 4000,
      })
      const queue = new HostTurnQueue({
        redis,
        keys: crawlRedisKeys({ spider: `contract${++crawls}`, crawlId: null }),
        workerId: 'here:1:a',
        order,
        pace: () => ({ delayMs, concurrency, randomize: false }),
      })
      return {
        queue,
        dispose: async () => {
          await queue.close()
          redis.disconnect()
        },
      }
    },
  },
)
