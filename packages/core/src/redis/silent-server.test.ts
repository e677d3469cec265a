import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dropWhenUnanswered, reconnectWith } from './silent-server.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

test('a connection that is made and not answered is dropped, and is tried until the server answers', async () => {
  await server.pause()
  const redis = new Redis(server.url, { retryStrategy: () => 10 })
  const errors: string[] = []
  redis.on('error', ({ message }) => errors.push(message))
  dropWhenUnanswered(redis, 50)
  await new Promise((resolve) => redis.once('reconnecting', resolve))
  expect(errors).toEqual(['no answer within 50 ms of connecting'])
  await server.resume()
  expect(await redis.ping()).toBe('PONG')
  redis.disconnect()
})

test('a connection that waits is made again when the other one is lost, and goes on waiting', async () => {
  const redis = new Redis(server.url)
  const waiting = redis.duplicate()
  reconnectWith(redis, waiting)
  await Promise.all([redis.ping(), waiting.ping()])
  const popped = waiting.blpop('line', 0)
  const lost = once(waiting, 'close')
  redis.disconnect(true)
  await lost
  await redis.rpush('line', 'page')
  expect(await popped).toEqual(['line', 'page'])
  waiting.disconnect()
  await once(waiting, 'end')
  expect(redis.listenerCount('close')).toBe(0)
  redis.disconnect()
})

test('also after it had ended, and was connected again', async () => {
  const redis = new Redis(server.url)
  const waiting = redis.duplicate()
  reconnectWith(redis, waiting)
  await Promise.all([redis.ping(), waiting.ping()])
  waiting.disconnect()
  await once(waiting, 'end')
  await waiting.connect()
  await redis.ping()
  const lost = once(waiting, 'close')
  redis.disconnect(true)
  await lost
  waiting.disconnect()
  redis.disconnect()
})

test('a connection that waits leaves a server that is silent at once', async () => {
  const redis = new Redis(server.url)
  const waiting = redis.duplicate()
  reconnectWith(redis, waiting)
  await Promise.all([redis.ping(), waiting.ping()])
  await server.pause()
  const closed = once(waiting, 'close').then(() => 'closed')
  const { stream } = redis as unknown as { readonly stream: { destroy(): void } }
  stream.destroy()
  // Waits: for less than the two seconds that ioredis gives a server's farewell.
  const first = await Promise.race([closed, sleep(1500)])
  await server.resume()
  expect(first).toBe('closed')
  waiting.disconnect()
  redis.disconnect()
})

test('one that is ended while it tries to connect is forgotten', async () => {
  const redis = new Redis(server.url)
  const waiting = redis.duplicate({ retryStrategy: () => 60_000 })
  reconnectWith(redis, waiting)
  await Promise.all([redis.ping(), waiting.ping()])
  redis.disconnect(true)
  await new Promise((resolve) => waiting.once('reconnecting', resolve))
  expect(redis.listenerCount('close')).toBe(1)
  waiting.disconnect()
  expect(redis.listenerCount('close')).toBe(0)
  redis.disconnect()
})
