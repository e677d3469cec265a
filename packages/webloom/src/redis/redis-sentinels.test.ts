import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { addressOf, PROTOCOL_TIMES, Settings, silentLogger } from '@webloom/core'
import { InUse, type SentinelRedis, startRedis, startSentinels } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { checkRedisServers } from '../doctor/redis-checkup.ts'
import { RedisServers } from './redis-servers.ts'

let redis: SentinelRedis
beforeAll(async () => {
  redis = await startSentinels({ sentinels: 1, password: 'p@ss/w', sentinelPassword: 'watch' })
})
afterAll(() => redis.stop())

const settingsOf = (url: string, timeoutS = 1) =>
  Settings.fromLayers({ command: { REDIS_URL: url, REDIS_START_TIMEOUT: timeoutS } })
const serversAt = (url: string, timeoutS?: number) => {
  const servers = new RedisServers(settingsOf(url, timeoutS), silentLogger)
  servers.connection('queue')
  return servers
}

test('Sentinels with a password of their own lead to the master', async () => {
  const servers = serversAt(`${redis.url}/2?sentinel_password=watch`, 10)
  await servers.open()
  await servers.connection('queue')!.set('page', '1')
  servers.close()
  expect(await redis.servers[0]!.command('INFO', 'keyspace')).toMatch(/^db2:keys=1/m)
})

test('a user of the Sentinels with the rights that docs/deploy.md gives is let in', async () => {
  const docs = readFileSync(new URL('../../../../docs/deploy.md', import.meta.url), 'utf8')
  const [line = ''] = /ACL SETUSER [^`]*sentinel\|sentinels/.exec(docs) ?? []
  const [command, ...words] = line.replace('<user>', 'looker').replace('<password>', 'pw').split(' ')
  expect(await redis.sentinels[0]!.command(command!, ...words)).toBe('OK')
  const servers = serversAt(`${redis.url}?sentinel_username=looker&sentinel_password=pw`)
  await servers.open()
  expect(await servers.connection('queue')!.ping()).toBe('PONG')
  servers.close()
})

test('a master that has lost its replicas is asked for again: another one may have its place', async () => {
  const servers = serversAt(`${redis.url}?sentinel_password=watch`, 10)
  await servers.open()
  const client = servers.connection('queue')!
  const [master] = redis.servers
  await master!.command('CONFIG', 'SET', 'min-replicas-to-write', '9')
  const again = once(client, 'reconnecting')
  await expect(client.set('page', '1')).rejects.toThrow(/^NOREPLICAS/)
  await again
  await master!.command('CONFIG', 'SET', 'min-replicas-to-write', '1')
  expect(await client.set('page', '1')).toBe('OK')
  servers.close()
})

test('a fail-over of another master of the same Sentinels is none of its own', async () => {
  const [sentinel] = redis.sentinels
  const servers = serversAt(`${redis.url}?sentinel_password=watch`, 10)
  const client = servers.connection('queue')!
  const listens = once(client, 'failoverSubscribed')
  await servers.open()
  await listens
  const lost = vi.fn()
  client.on('close', lost)
  await using other = await startRedis()
  await using follower = await startRedis()
  await sentinel!.command('SENTINEL', 'MONITOR', 'others', '127.0.0.1', `${other.port}`, '1')
  await using listener = new InUse()
  const heard = new Redis({ port: sentinel!.port, password: 'watch' })
  listener.defer(() => heard.disconnect())
  await heard.subscribe('+switch-master')
  const told = once(heard, 'message')
  // As another Sentinel tells of a fail-over that it has led.
  const hello = ['127.0.0.1', 1, 'a'.repeat(40), 1, 'others', '127.0.0.1', follower.port, 1].join()
  await sentinel!.command('PUBLISH', '__sentinel__:hello', hello)
  expect(await told).toEqual(['+switch-master', expect.stringMatching(/^others /)])
  expect(await client.ping()).toBe('PONG')
  expect(lost).not.toHaveBeenCalled()
  await sentinel!.command('SENTINEL', 'REMOVE', 'others')
  servers.close()
})

test('a master that no longer lets in whom it let in before is told with the setting that names it, and waited for', async () => {
  const users = (...words: string[]) => redis.servers[0]!.command('ACL', ...words)
  await users('SETUSER', 'leaver', 'on', '>pw', '~*', '&*', '+@all')
  const lines: string[] = []
  const warn = (_fields: object | string, text?: string) => void lines.push(text ?? String(_fields))
  const url = `${redis.url.replace(/\/\/:[^@]+@/, '//leaver:pw@')}?sentinel_password=watch`
  const times = { ...PROTOCOL_TIMES, redis: { ...PROTOCOL_TIMES.redis, troubleMsMax: 0 } }
  const servers = new RedisServers(settingsOf(url), { ...silentLogger, warn }, { times })
  const ended = Promise.withResolvers<Error>()
  servers.onHopeless(ended.resolve)
  const client = servers.connection('queue')!
  await servers.open()
  await users('DELUSER', 'leaver')
  const { message } = await ended.promise
  expect(message).toMatch(/does not let this process in any more: .* that REDIS_URL gives/)
  // Another line may say that no Sentinel leads to a master that answers.
  expect(lines.filter((line) => line.includes(message))).toEqual([
    `${message}. The crawl waits for up to 1 s, and then ends`,
  ])
  await expect(client.get('key')).rejects.toThrow(message)
  servers.close()
})

test.each([
  [
    '',
    /the Sentinels do not let us in \(they say: NOAUTH.*add \?sentinel_username=user&sentinel_password=password to REDIS_URL/,
  ],
  ['?sentinel_password=wrong', /the Sentinels do not let us in \(they say: WRONGPASS/],
])('what they refuse to "%s" is told in words', async (query, words) => {
  const servers = serversAt(`${redis.url}${query}`)
  await expect(servers.open()).rejects.toMatchObject({
    code: 'WL_REDIS_REFUSED',
    message: expect.stringMatching(words),
  })
  servers.close()
})

test('a name that they do not know is told, with the line that asks for those they know', async () => {
  const servers = serversAt(`${redis.url.replace(/crawls$/, 'crowls')}?sentinel_password=watch`)
  await expect(servers.open()).rejects.toThrow(
    /know no master of the name crowls.*redis-cli -h 127\.0\.0\.1 -p \d+ SENTINEL MASTERS/,
  )
  servers.close()
})

test('a Redis that is taken for a Sentinel is named as such', async () => {
  await using plain = await startRedis()
  const servers = serversAt(`redis+sentinel://127.0.0.1:${plain.port}/crawls`)
  await expect(servers.open()).rejects.toMatchObject({
    code: 'WL_REDIS_REFUSED',
    message: expect.stringMatching(/is a Redis, and no Sentinel.*26379.*redis:\/\//),
  })
  servers.close()
})

test('doctor looks at the master, and its lines to type are for that server', async () => {
  const master = redis.servers[0]!
  await master.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
  // And the other Sentinels that are named.
  const url = `${redis.url.replace(/(?=\/crawls$)/, ',127.0.0.1:1')}?sentinel_password=watch`
  const results = await checkRedisServers(settingsOf(url))
  expect(results[0]?.found).toContain(`, master 127.0.0.1:${master.port}: version `)
  expect(results.find(({ check }) => check === 'Redis Sentinels')).toMatchObject({
    state: 'warn',
    found: expect.stringContaining('the Sentinel 127.0.0.1:1 of '),
  })
  await master.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  expect(results.find(({ state }) => state === 'fail')).toMatchObject({
    check: 'Redis policy',
    type: `redis-cli -h 127.0.0.1 -p ${master.port} --askpass CONFIG SET maxmemory-policy noeviction`,
  })
})

test.each([
  ['', '/crawls/0?sentinel_username=user&sentinel_password=password'],
  ['?sentinel_password=watch', '/crawls/0?sentinel_password=password'],
])(
  'where they or their server refuse us (%s), the line to type has all that the URL needs',
  async (query, end) => {
    const url = redis.url.replace(/:[^:@/]*@/, ':wrong@')
    const [found] = await checkRedisServers(settingsOf(`${url}${query}`))
    expect(found).toMatchObject({
      state: 'fail',
      type: `export REDIS_URL='${url.replace(':wrong', 'user:password').replace(/\/crawls$/, end)}'`,
    })
  },
)

test('where it is the name that is wrong, the line asks for it, and where they are none, it names one server', async () => {
  const unknown = `${redis.url.replace(/crawls$/, 'crowls')}?sentinel_password=watch`
  expect(await checkRedisServers(settingsOf(unknown))).toMatchObject([
    { type: `redis-cli -h 127.0.0.1 -p ${redis.sentinels[0]!.port} --askpass SENTINEL MASTERS` },
  ])
  await using plain = await startRedis()
  const urls = [`redis+sentinel://127.0.0.1:${plain.port}/crawls`, `redis+cluster://127.0.0.1:${plain.port}`]
  for (const found of await Promise.all(urls.map((url) => checkRedisServers(settingsOf(url)))))
    expect(found).toMatchObject([
      { type: `export REDIS_URL='redis://user:password@127.0.0.1:${plain.port}/0'` },
    ])
})

test('and at what replicas are for: a master that takes writes without them, or none', async () => {
  const [master, ...replicas] = redis.servers
  const look = async () =>
    (await checkRedisServers(settingsOf(`${redis.url}?sentinel_password=watch`))).find(
      ({ check }) => check === 'Redis replicas',
    )
  expect(await look()).toBe(undefined)
  const hasty = Settings.fromLayers({
    command: { REDIS_URL: `${redis.url}?sentinel_password=watch`, DUPEFILTER_PENDING_STALE: 2 },
  })
  expect((await checkRedisServers(hasty)).find(({ check }) => check === 'Redis replicas')).toMatchObject({
    state: 'warn',
    type: 'export WEBLOOM_DUPEFILTER_PENDING_STALE=10',
  })
  await master!.command('CONFIG', 'SET', 'min-replicas-to-write', '0')
  expect(await look()).toMatchObject({
    state: 'warn',
    type: expect.stringContaining('CONFIG SET min-replicas-to-write 1 min-replicas-max-lag 1'),
  })
  await master!.command('CONFIG', 'SET', 'min-replicas-to-write', '1')
  await Promise.all(replicas.map((replica) => replica.kill()))
  await expect.poll(look).toMatchObject({
    state: 'fail',
    found: expect.stringContaining('takes no writes, as no replica is near enough'),
  })
})

test('a Sentinel named by redis:// or redis+cluster:// is refused with the URL to write, and Sentinels that are away are told as such', async () => {
  const [, place] = /([\d.]+:\d+)\/crawls$/.exec(redis.url)!
  const direct = serversAt(`redis://:watch@${place}`)
  await expect(direct.open()).rejects.toThrow(
    `is a Sentinel, and keeps no keys. Write REDIS_URL=redis+sentinel://user:password@${place}/name`,
  )
  direct.close()
  expect(await checkRedisServers(settingsOf(`redis://:watch@${place}`))).toMatchObject([
    { type: `redis-cli -h 127.0.0.1 -p ${redis.sentinels[0]!.port} --askpass SENTINEL MASTERS` },
  ])
  const asCluster = serversAt(`redis+cluster://:watch@${place}`)
  await expect(asCluster.open()).rejects.toThrow(
    `is a Sentinel, and keeps no keys. Write REDIS_URL=redis+sentinel://user:password@${place}/name`,
  )
  asCluster.close()
  const away = serversAt('redis+sentinel://127.0.0.1:1,127.0.0.1:2/crawls')
  await expect(away.open()).rejects.toThrow(
    'cannot be used: no Sentinel that is named answers. Is it running',
  )
  away.close()
})

test('a crawl goes to the new master of a planned fail-over as soon as a Sentinel says so, and not when the old one is demoted', async () => {
  const config = { 'min-replicas-to-write': '0' }
  await using trio = await startSentinels({ sentinels: 1, downAfterMs: 60_000, config })
  const [old] = trio.servers
  const servers = new RedisServers(settingsOf(trio.url, 10), silentLogger)
  const client = servers.connection('queue')!
  await servers.open()
  await trio.sentinels[0]!.command('SENTINEL', 'FAILOVER', 'crawls')
  const promoted = await trio.untilWritable(old)
  await vi.waitUntil(() => addressOf(client)?.port === promoted.port, { timeout: 10_000 })
  // A Sentinel demotes it once it has been a master beside the new one for eight seconds.
  expect(await old!.command('INFO', 'replication')).toMatch(/^role:master/m)
  expect(await client.set('page', '1')).toBe('OK')
  expect(await promoted.command('GET', 'page')).toBe('1')
  servers.close()
})
