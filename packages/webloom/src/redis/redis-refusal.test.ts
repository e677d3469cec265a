import { writeFileSync } from 'node:fs'
import { Settings, silentLogger } from '@webloom/core'
import { type RedisServer, startFakeWeb, startRedis, tempDir } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { checkRedisServers } from '../doctor/redis-checkup.ts'
import { isClusterNode, Outages, outageInWords } from './redis-refusal.ts'
import { RedisServers } from './redis-servers.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
  const redis = new Redis(server.url)
  await redis.call('ACL', 'SETUSER', 'bob', 'on', '>pw', '~*', '+ping', '+hello', '+select')
  await redis.call('ACL', 'SETUSER', 'default', 'resetpass', '>right')
  redis.disconnect()
})
afterAll(() => server.stop())

test.each([
  ['', /: it wants a password, and REDIS_URL gives none.*redis:\/\/:password@host.*NOAUTH/],
  [':wrong@', /does not know the user and password that REDIS_URL gives.*WRONGPASS/],
  ['bob:pw@', /NOPERM.*INFO at redis:.*no right to that command.*ACL SETUSER <user>.*~webloom:.*\+hset/],
])('what a Redis refuses to "%s" is told in words', async (user, words) => {
  const servers = new RedisServers(
    new Settings({ REDIS_URL: server.url.replace('://', `://${user}`), REDIS_START_TIMEOUT: 2 }),
    silentLogger,
  )
  servers.connection('queue')
  await expect(servers.open()).rejects.toThrow(words)
  servers.close()
})

test('of what is no Redis it is asked where one is, and not whether it runs', async () => {
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 1 })
  const REDIS_URL = web.seeds[0]!.replace(/^http(:\/\/[^/]+).*/, 'redis$1')
  const servers = new RedisServers(new Settings({ REDIS_URL, REDIS_START_TIMEOUT: 0.5 }), silentLogger)
  servers.connection('queue')
  const refused = String(await servers.open().catch((error: Error) => error))
  expect(refused).toMatch(/no Redis, as .*web server.*\. At which port is one\? REDIS_URL is to name it \(/)
  servers.close()
})

test('commands that are renamed there are told in words, with those that are needed', async () => {
  await using folder = await tempDir()
  writeFileSync(folder.join('renaming.conf'), 'rename-command INFO hidden\n')
  const renaming = await startRedis({ config: { include: folder.join('renaming.conf') } })
  const servers = new RedisServers(
    new Settings({ REDIS_URL: renaming.url, REDIS_START_TIMEOUT: 2 }),
    silentLogger,
  )
  servers.connection('queue')
  await expect(servers.open()).rejects.toThrow(/unknown command 'info'.*redis:.*renamed or disabled.*\+info/i)
  servers.close()
  const settings = new Settings({ REDIS_URL: renaming.url })
  expect(await checkRedisServers(settings)).toMatchObject([
    { type: expect.stringMatching(/^grep rename-command/) },
  ])
  await renaming.stop()
})

test('a command that is renamed and needed later is told before anything is written, and no right is offered for it', async () => {
  await using folder = await tempDir()
  writeFileSync(folder.join('renaming.conf'), 'rename-command SUBSCRIBE hidden\n')
  await using renaming = await startRedis({ config: { include: folder.join('renaming.conf') } })
  const settings = new Settings({ REDIS_URL: renaming.url, REDIS_START_TIMEOUT: 2 })
  const servers = new RedisServers(settings, silentLogger)
  servers.connection('queue')
  const refused = String(await servers.open({ forWriting: true }).catch((error: Error) => error))
  expect(refused).toMatch(/subscribe has another name there.*rename-command.*restart it/)
  expect(refused).not.toContain('ACL')
  servers.close()
  expect((await checkRedisServers(settings)).find(({ state }) => state === 'fail')).toMatchObject({
    check: 'Redis commands',
    found: expect.stringContaining('subscribe has another name there'),
    type: expect.stringMatching(/^grep rename-command/),
  })
})

test('a node of a Redis Cluster is known by its own words', () => {
  expect(isClusterNode('# Cluster\r\ncluster_enabled:1\r\n')).toBe(true)
  expect(isClusterNode('# Cluster\r\ncluster_enabled:0\r\n')).toBe(false)
})

const CLOSED = outageInWords(Object.assign(new Error('Connection is closed.'), { node: 'h:1' }))

test('the end of a server is told once, however many connections hear of it, and in which words', () => {
  const outages = new Outages()
  const heard = ['connect ECONNREFUSED h:1', CLOSED, 'connect ECONNREFUSED h:1', 'read ECONNRESET']
  expect(heard.map((reason) => outages.isNews('a', reason))).toEqual([true, false, false, false])
  expect(outages.isNews('b', 'connect ECONNREFUSED h:2')).toBe(true)
  expect([outages.end('a'), outages.end('a')]).toEqual([true, false])
  expect(outages.isNews('a', 'connect ECONNREFUSED h:1')).toBe(true)
})

test('another reason that comes later is told once', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const outages = new Outages()
  expect(outages.isNews('a', 'connect ECONNREFUSED h:1')).toBe(true)
  vi.advanceTimersByTime(6000)
  const later = ['connect ECONNREFUSED h:1', CLOSED, 'LOADING', 'LOADING']
  expect(later.map((reason) => outages.isNews('a', reason))).toEqual([false, false, true, false])
})

test('and so it is in the log of a crawl that has two connections to one server', async () => {
  await using away = await startRedis()
  const lines: string[] = []
  const tell = (_fields: object | string, text?: string) => void lines.push(text ?? String(_fields))
  const settings = Settings.fromLayers({ command: { REDIS_URL: away.url } })
  const servers = new RedisServers(settings, { ...silentLogger, warn: tell, info: tell })
  const clients = [servers.connection('queue')!, servers.connection('dupefilter')!]
  await servers.open()
  // However long the restart takes: another reason that comes later would be told, too.
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const lost = clients.map((client) => new Promise((resolve) => client.once('error', resolve)))
  await away.kill()
  await Promise.all(lost)
  const found = clients.map((client) => new Promise((resolve) => client.once('ready', resolve)))
  await away.restart()
  await Promise.all(found)
  expect(lines).toEqual([
    'Redis cannot be reached; the crawl waits for it',
    'Redis is back; the crawl goes on',
  ])
  servers.close()
})
