import { silentLogger } from '@webloom/core'
import { expect, test, vi } from 'vitest'
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

test('a start host waits for a Redis that takes no writes', async () => {
  const keys = crawlRedisKeys({ spider: 'waits', crawlId: '' })
  const waits = vi.fn()
  const hosts = new RedisStartHosts({ redis, keys, logger: { ...silentLogger, debug: waits } })
  await server.command('CONFIG', 'SET', 'min-replicas-to-write', '1')
  const adding = hosts.add('a.example:80')
  await vi.waitFor(() => expect(waits).toHaveBeenCalled())
  await server.command('CONFIG', 'SET', 'min-replicas-to-write', '0')
  await adding
  expect(await hosts.has('a.example:80')).toBe(true)
})

const OVER: readonly [string, Record<string, string>][] = [
  ['has finished', { state: 'finished' }],
  ['was stopped and emptied', { state: 'stopped', emptied: '1' }],
]

test.each(OVER)('of a crawl that %s nothing is noted, until it goes on', async (how, record) => {
  const keys = crawlRedisKeys({ spider: how.replaceAll(' ', '-'), crawlId: '' })
  await redis.hset(keys.record, record)
  const hosts = new RedisStartHosts({ redis, keys })
  await hosts.add('a.example:80')
  expect(await redis.exists(keys.startHosts)).toBe(0)
  await redis.hset(keys.record, 'state', 'running')
  await hosts.add('a.example:80')
  expect(await hosts.has('a.example:80')).toBe(true)
})

test('hosts without room count as none, which is told once; those that were noted stay, also as ones with a public address', async () => {
  const keys = crawlRedisKeys({ spider: 'many', crawlId: '' })
  const warned: unknown[] = []
  const logger = { ...silentLogger, warn: (what: unknown) => void warned.push(what) }
  const hosts = new RedisStartHosts({ redis, keys, hostsMax: 3, logger })
  for (const name of ['a', 'b', 'c']) await hosts.add(`${name}.example:80`)
  await hosts.notePublic('b.example:80')
  for (const name of ['a', 'd', 'e']) await hosts.add(`${name}.example:80`)
  const known = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => hosts.has(`${name}.example:80`)))
  expect(known).toEqual([true, false, true, false, false])
  expect(warned).toEqual([{ host: 'd.example:80', hosts: 3 }])
  await new RedisStartHosts({ redis, keys, hostsMax: 4 }).add('b.example:80')
  expect(await hosts.has('b.example:80')).toBe(false)
})

test('hosts that are added at the same moment take one script, and each of them is known', async () => {
  const keys = crawlRedisKeys({ spider: 'together', crawlId: '' })
  const hosts = new RedisStartHosts({ redis, keys })
  await hosts.add('first.example:80')
  const before = await scriptsRun()
  const names = Array.from({ length: 256 }, (_, n) => `h${n}.example:80`)
  await Promise.all(names.map((name) => hosts.add(name)))
  expect((await scriptsRun()) - before).toBe(1)
  expect(await redis.scard(keys.startHosts)).toBe(257)
})

test('of several that have no room the first is told, and those before it are known', async () => {
  const keys = crawlRedisKeys({ spider: 'no-room', crawlId: '' })
  const warned: unknown[] = []
  const logger = { ...silentLogger, warn: (what: unknown) => void warned.push(what) }
  const hosts = new RedisStartHosts({ redis, keys, hostsMax: 2, logger })
  await Promise.all(['a', 'b', 'c', 'd'].map((name) => hosts.add(`${name}.example:80`)))
  expect((await redis.smembers(keys.startHosts)).sort()).toEqual(['a.example:80', 'b.example:80'])
  expect(warned).toEqual([{ host: 'c.example:80', hosts: 2 }])
})

async function scriptsRun(): Promise<number> {
  const stats = String(await server.command('INFO', 'commandstats'))
  return ['eval', 'evalsha'].reduce(
    (sum, name) => sum + Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0),
    0,
  )
}

test('a long name takes no more than its digest', async () => {
  const keys = crawlRedisKeys({ spider: 'long', crawlId: '' })
  const hosts = new RedisStartHosts({ redis, keys })
  const long = `${'a'.repeat(60)}.${'b'.repeat(60)}.example:80`
  await hosts.add(long)
  expect(await hosts.has(long)).toBe(true)
  expect((await redis.smembers(keys.startHosts)).map(({ length }) => length)).toEqual([40])
  await hosts.notePublic(long)
  expect(await hosts.has(long)).toBe(false)
})
