import { type RedisServer, type StartRedisOptions, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll } from 'vitest'

/** A real Redis for the tests of a file, and a connection to it: `const { server, redis } = await redisOfFile()`. */
export async function redisOfFile(
  options?: StartRedisOptions,
): Promise<{ readonly server: RedisServer; readonly redis: Redis }> {
  const server = await startRedis(options)
  const redis = new Redis(server.url, { maxRetriesPerRequest: null })
  afterAll(async () => {
    redis.disconnect()
    await server.stop()
  })
  return { server, redis }
}
