import { once } from 'node:events'
import { Settings, silentLogger } from '@webloom/core'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { RedisServers } from './redis-servers.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

const serversOf = (settings: object, logger = silentLogger) =>
  new RedisServers(Settings.fromLayers({ command: settings as never }), logger)

test('each call for a role gives the same connection, and roles on one server share theirs with the queue', () => {
  const servers = serversOf({ REDIS_URL: redis.url })
  const { redis: of } = servers
  expect(of('items')).toBe(of('items'))
  expect(of('items')).toBe(of('queue'))
  expect(of('dupefilter'), 'its questions go beside the commits').not.toBe(of('queue'))
  servers.close()
})

test('one that is asked for while the crawl runs is opened by its first command, and closed with the others', async () => {
  const servers = serversOf({ REDIS_URL: redis.url })
  servers.redis('queue')
  await servers.open()
  const late = servers.redis('dupefilter')
  expect(await late.set('late', 'here')).toBe('OK')
  const own = late.duplicate()
  expect(await own.get('late')).toBe('here')
  const ended = once(own, 'end')
  servers.close()
  await ended
  await expect(late.get('late')).rejects.toThrow('Connection is closed')
  await expect(servers.redis('queue').get('late')).rejects.toThrow('Connection is closed')
})

test('one that a command asks for late tells why it does not let us in, and is tried anew when it is asked for again', async () => {
  const items = new URL(redis.url)
  items.password = 'later'
  const servers = serversOf({ REDIS_URL: redis.url, ITEMS_REDIS_URL: items.href })
  servers.redis('queue')
  await servers.open()
  await redis.command('ACL', 'SETUSER', 'default', 'resetpass', '>another')
  const refused = {
    code: 'WL_REDIS_REFUSED',
    message: expect.stringContaining('does not know the user and password that ITEMS_REDIS_URL gives'),
  }
  await expect(servers.opened('items')).rejects.toMatchObject(refused)
  servers.connection('items')
  await expect(servers.open(), 'all that were asked for').rejects.toMatchObject(refused)
  await servers.redis('queue').call('ACL', 'SETUSER', 'default', 'resetpass', '>later')
  const late = await servers.opened('items')
  expect(await late!.ping()).toBe('PONG')
  await late!.call('ACL', 'SETUSER', 'default', 'nopass')
  servers.close()
})

test('after the end there are no new ones', () => {
  const servers = serversOf({ REDIS_URL: redis.url })
  servers.close()
  expect(() => servers.redis('items')).toThrow('the crawl has ended, and its connections are closed')
})

test('without a Redis, or with several for one role, it says what is set, and what needs it', () => {
  expect(() => serversOf({}).redis('queue', 'COOKIES_SHARED is true')).toThrow(
    'COOKIES_SHARED is true, and no Redis is named. Set REDIS_URL=redis://host:6379, or QUEUE_REDIS_URL',
  )
  expect(() => serversOf({ REDIS_URL: redis.url }).redis('cache' as never)).toThrow(
    'a component asks for the Redis of role cache; the roles are queue, dupefilter, seeds, items.',
  )
  const two = { DUPEFILTER_REDIS_URL: [redis.url, 'redis://127.0.0.1:1'] }
  expect(() => serversOf(two).redis('dupefilter')).toThrow(
    'DUPEFILTER_REDIS_URL names 2 servers, and a component asks for the Redis of role dupefilter. A component gets one connection, and so one server: name one, or use',
  )
  expect(() => serversOf({ REDIS_URL: redis.url }).redis('' as never)).toThrow(
    'the Redis of role ""; the roles',
  )
})

test('of several servers the one is named that does not answer, or takes no writes, as long as that lasts', async () => {
  await using filter = await startRedis()
  const servers = serversOf({ REDIS_URL: redis.url, DUPEFILTER_REDIS_URL: filter.url })
  for (const role of ['queue', 'dupefilter'] as const) servers.redis(role)
  await servers.open({ forWriting: true })
  const filterShown = `${filter.url}/0`
  // A look has less than a second, which a busy machine may take.
  const allServe = () => vi.waitUntil(async () => (await servers.silent()) === undefined, { timeout: 30_000 })
  await allServe()
  await filter.pause()
  expect(await servers.silent()).toBe(filterShown)
  await filter.resume()
  await allServe()
  await filter.command('CONFIG', 'SET', 'min-replicas-to-write', '1')
  expect(await servers.silent()).toBe(filterShown)
  await filter.command('CONFIG', 'SET', 'min-replicas-to-write', '0')
  await allServe()
  servers.close()
})

test('whoever waits for one that does not answer is told so, once for each server', async () => {
  const told: unknown[][] = []
  const logger = { ...silentLogger, warn: (...line: unknown[]) => void told.push(line) }
  const servers = serversOf({ REDIS_URL: 'redis://127.0.0.1:1', REDIS_START_TIMEOUT: 2.5 }, logger)
  servers.redis('queue')
  servers.redis('dupefilter')
  await expect(servers.open()).rejects.toMatchObject({ code: 'WL_REDIS_UNREACHABLE' })
  const words = 'Redis has not answered yet; it is waited for, 2.5 s in all (REDIS_START_TIMEOUT)'
  expect(told).toEqual([[{ redis: 'redis://127.0.0.1:1/0' }, words]])
  servers.close()
})
