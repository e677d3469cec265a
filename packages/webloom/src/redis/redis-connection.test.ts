import { once } from 'node:events'
import { redisTargets, Settings, silentLogger } from '@webloom/core'
import { type RedisServer, startRedis, startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { RedisLink } from './redis-connection.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis({ config: { databases: '3' } })
})
afterAll(() => redis.stop())

const linkTo = (db: number, logger = silentLogger, { url = redis.url, startTimeoutMs = 5000 } = {}) => {
  const settings = Settings.fromLayers({ command: { REDIS_URL: `${url}/${db}` } })
  return new RedisLink(redisTargets(settings, 'queue')[0]!, {
    startTimeoutMs,
    logger,
    roles: ['queue'],
  })
}

const infoOf = async (server: RedisServer, name: string) =>
  new RegExp(`^${name}:(.*)$`, 'm').exec(String(await server.command('INFO')))?.[1]

test('a database that the server lacks is refused, and nothing is written to database 0', async () => {
  const link = linkTo(7)
  const written = link.client.set('crawl', 'here').catch((error: Error) => error)
  await expect(link.open()).rejects.toMatchObject({
    code: 'WL_SETTINGS_INVALID',
    message: expect.stringMatching(/\/7 names database 7, which cannot be used there: .*out of range/),
  })
  expect(await written).toBeInstanceOf(Error)
  expect(await redis.command('DBSIZE')).toBe(0)
})

test('one that it has is used', async () => {
  const link = linkTo(2)
  await link.open()
  await link.client.set('crawl', 'here')
  expect(await redis.command('DBSIZE')).toBe(0)
  link.close()
})

test('a Redis that later keeps us out of the database is waited for, and nothing is written to another', async () => {
  const told = Promise.withResolvers<void>()
  const warn = (fields: object | string) => {
    if (JSON.stringify(fields).includes('NOPERM')) told.resolve()
  }
  const link = linkTo(2, { ...silentLogger, warn })
  await link.open()
  await redis.command('ACL', 'SETUSER', 'default', '-select')
  await redis.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  const written = link.client.set('later', 'here')
  await told.promise
  await redis.command('ACL', 'SETUSER', 'default', '+select')
  expect(await written).toBe('OK')
  expect(await redis.command('DBSIZE')).toBe(0)
  link.close()
})

test('a Redis that goes away twice is told twice, and each time that it is back', async () => {
  const told: string[] = []
  const tell = (_fields: object | string, text?: string) => void told.push(text ?? '')
  const link = linkTo(2, { ...silentLogger, warn: tell, info: tell })
  await link.open()
  const away = 'Redis cannot be reached; the crawl waits for it'
  const back = 'Redis is back; the crawl goes on'
  for (const times of [1, 2]) {
    // As ioredis tells what keeps it from connecting.
    link.client.emit('error', new Error('connect ECONNREFUSED'))
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await vi.waitFor(() => expect(told).toEqual(Array.from({ length: times }, () => [away, back]).flat()))
  }
  link.close()
})

test.each([
  [
    'redis+cluster://127.0.0.1:1',
    /^a server of the Redis Cluster cannot/,
    /^the Redis Cluster has a server again/,
  ],
  ['redis+sentinel://127.0.0.1:1/name', /^the master of the Redis cannot/, /^Redis has a master again/],
])('an outage of %s is told as one of several servers', (url, away, back) => {
  const told: string[] = []
  const tell = (_fields: object | string, text?: string) => void told.push(text ?? '')
  const settings = Settings.fromLayers({ command: { REDIS_URL: url } })
  const link = new RedisLink(redisTargets(settings, 'queue')[0]!, {
    ...{
      startTimeoutMs: 1,
      roles: ['queue'],
      logger: { ...silentLogger, warn: tell, info: tell },
      isLate: true,
    },
  })
  link.client.emit('error', new Error('connect ECONNREFUSED'))
  link.client.emit('ready')
  expect(told).toEqual([expect.stringMatching(away), expect.stringMatching(back)])
  link.close()
})

test('a replica, which takes no writes, is refused with the name of its master', async () => {
  await using replica = await startRedis({ config: { replicaof: `127.0.0.1 ${redis.port}` } })
  const link = linkTo(0, silentLogger, { url: replica.url, startTimeoutMs: 600 })
  await expect(link.open()).rejects.toMatchObject({
    code: 'WL_REDIS_UNREACHABLE',
    message: expect.stringContaining(
      `is a replica of 127.0.0.1:${redis.port}, and takes no writes. Name the master in REDIS_URL`,
    ),
  })
})

test('a replica that becomes the master meanwhile is used', async () => {
  await using replica = await startRedis({ config: { replicaof: `127.0.0.1 ${redis.port}` } })
  const link = linkTo(0, silentLogger, { url: replica.url })
  const isOpen = link.open()
  await vi.waitFor(async () =>
    expect(Number(await infoOf(replica, 'total_connections_received'))).toBeGreaterThan(3),
  )
  await replica.command('REPLICAOF', 'NO', 'ONE')
  await isOpen
  expect(await link.client.set('crawl', 'here')).toBe('OK')
  link.close()
})

test('a master that has become a replica refuses many commands at once: all are sent again, and Node warns of no leak', async () => {
  await using server = await startRedis()
  const link = linkTo(0, silentLogger, { url: server.url })
  await link.open()
  const leaks: string[] = []
  const note = ({ name }: Error) => leaks.push(name)
  process.on('warning', note)
  await server.command('REPLICAOF', '127.0.0.1', '1')
  const written = Array.from({ length: 20 }, (_, n) => link.client.set(`page${n}`, 'here'))
  await once(link.client, 'reconnecting')
  await server.command('REPLICAOF', 'NO', 'ONE')
  expect(await Promise.all(written)).toEqual(written.map(() => 'OK'))
  process.off('warning', note)
  expect(leaks).toEqual([])
  link.close()
})

test('a master that takes no writes without a replica is waited for by a crawl, and then refused with what to do', async () => {
  await using lonely = await startRedis({ config: { 'min-replicas-to-write': '1' } })
  const refused = linkTo(0, silentLogger, { url: lonely.url, startTimeoutMs: 400 })
  await expect(refused.open({})).rejects.toMatchObject({
    code: 'WL_REDIS_UNREACHABLE',
    message: expect.stringMatching(
      /takes no writes.*Start its replicas; or.*CONFIG SET min-replicas-to-write 0/,
    ),
  })
  const looking = linkTo(0, silentLogger, { url: lonely.url })
  await looking.open()
  looking.close()
  const waiting = linkTo(0, silentLogger, { url: lonely.url })
  const isOpen = waiting.open({})
  await lonely.command('CONFIG', 'SET', 'min-replicas-to-write', '0')
  await isOpen
  expect(await waiting.client.set('crawl', 'here')).toBe('OK')
  waiting.close()
})

test('what is asked of a connection that is lost before it is ready is asked of the next one', async () => {
  await using proxy = await startTcpProxy({ target: redis.url })
  const isReadyAsked = Promise.withResolvers<void>()
  proxy.judgeBy(([name, section]) => {
    if (name?.toLowerCase() !== 'info' || section !== undefined) return 'forward'
    isReadyAsked.resolve()
    return { holdReplyMs: 3_600_000 }
  })
  const link = linkTo(0, silentLogger, { url: proxy.url })
  void link.client.connect().catch(() => {})
  await isReadyAsked.promise
  const asked = [link.client.info('server'), link.shared.client.info('memory')]
  await proxy.down()
  proxy.judgeBy(() => 'forward')
  await proxy.up()
  const [server, memory] = await Promise.all(asked)
  expect(server).toContain('run_id')
  expect(memory).toContain('maxmemory')
  link.close()
})
