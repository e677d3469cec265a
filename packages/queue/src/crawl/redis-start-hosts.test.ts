import { expect, test } from 'vitest'
import { redisOfFile } from '../../testing/redis-of-file.ts'
import { crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { RedisStartHosts } from './redis-start-hosts.ts'

const { server, redis } = await redisOfFile()

test('a start host is noted on a Redis that is full, too: start() waits for room, and does not end', async () => {
  const keys = crawlRedisKeys({ spider: 'pages', crawlId: '' })
  const mine = new RedisStartHosts({ redis, keys })
  await server.command('CONFIG', 'SET', 'maxmemory', '1')
  await mine.add('a.example:80')
  await server.command('CONFIG', 'SET', 'maxmemory', '0')
  expect(await new RedisStartHosts({ redis, keys }).has('a.example:80')).toBe(true)
})
