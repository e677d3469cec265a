import { type RedisServer, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { crawlRedisKeys } from './crawl-redis-keys.ts'
import { RedisStartHosts } from './redis-start-hosts.ts'

let server: RedisServer
let redis: Redis
beforeAll(async () => {
  server = await startRedis()
  redis = new Redis(server.url)
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

test('a start host is noted on a Redis that is full, too: start() waits for room, and does not end (issue 15)', async () => {
  const keys = crawlRedisKeys({ spider: 'pages', crawlId: '' })
  const mine = new RedisStartHosts({ redis, keys })
  await server.command('CONFIG', 'SET', 'maxmemory', '1')
  await mine.add('a.example:80')
  await server.command('CONFIG', 'SET', 'maxmemory', '0')
  expect(await new RedisStartHosts({ redis, keys }).has('a.example:80')).toBe(true)
})
