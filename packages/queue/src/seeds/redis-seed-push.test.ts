import { type RedisServer, startRedis, startTcpProxy } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { RedisSeedPush, type RedisSeedPushOptions } from './redis-seed-push.ts'

let server: RedisServer
let keys = 0
const connections: Redis[] = []

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
afterEach(() => {
  for (const redis of connections.splice(0)) redis.disconnect()
})

function pushTo(options: Partial<RedisSeedPushOptions> & { url?: string } = {}) {
  const redis = new Redis(options.url ?? server.url)
  redis.on('error', () => {})
  connections.push(redis)
  const key = options.key ?? `spider${++keys}:start_urls`
  return { key, redis, pushing: new RedisSeedPush({ redis, key, type: 'list', ...options }) }
}

const seeds = (...messages: string[]) => messages.map((message, n) => ({ message, score: n }))

test('messages come in their order behind those that wait', async () => {
  const { key, pushing } = pushTo()
  expect(await pushing.push(seeds('a', 'b'))).toEqual({ type: 'list', added: 2, waiting: 2 })
  expect(await pushing.push(seeds('c', 'a'))).toEqual({ type: 'list', added: 2, waiting: 4 })
  expect(await server.command('LRANGE', key, 0, -1)).toEqual(['a', 'b', 'c', 'a'])
})

test('to the front they come before those that wait, and still in their order', async () => {
  const { key, pushing } = pushTo({ front: true })
  await server.command('RPUSH', key, 'waits')
  await pushing.push(seeds('a', 'b'))
  expect(await server.command('LRANGE', key, 0, -1)).toEqual(['a', 'b', 'waits'])
})

test('what waits there already decides, whatever was asked for', async () => {
  const { key, pushing } = pushTo()
  await server.command('SADD', key, 'a')
  expect(await pushing.push(seeds('a', 'b'))).toEqual({ type: 'set', added: 1, waiting: 2 })
})

test('a sorted set gets each message with its score', async () => {
  const { key, pushing } = pushTo({ type: 'zset' })
  expect(await pushing.push(seeds('a', 'b'))).toEqual({ type: 'zset', added: 2, waiting: 2 })
  expect(await server.command('ZRANGE', key, 0, -1, 'WITHSCORES')).toEqual(['a', '0', 'b', '1'])
})

test('a batch whose reply was lost is sent again and added once', async () => {
  await using proxy = await startTcpProxy({ target: server.url })
  const { key, pushing } = pushTo({ url: proxy.url })
  await pushing.push(seeds('a'))
  const cut = proxy.cutReplyOf(([name]) => /^EVAL/.test(name!))
  expect(await pushing.push(seeds('b', 'c'))).toEqual({ type: 'list', added: 2, waiting: 3 })
  expect(cut.count).toBe(1)
  expect(await pushing.push(seeds('d'))).toEqual({ type: 'list', added: 1, waiting: 4 })
  expect(await server.command('LRANGE', key, 0, -1)).toEqual(['a', 'b', 'c', 'd'])
})

test('a key that holds something else is left alone', async () => {
  const { key, pushing } = pushTo()
  await server.command('HSET', key, 'a', 'b')
  await expect(pushing.push(seeds('a'))).rejects.toThrow(`the key ${key} holds a hash; start URLs are a list`)
  expect(await server.command('HGETALL', key)).toEqual(['a', 'b'])
})
