import { PROTOCOL_TIMES, redisTargets, Settings, silentLogger, type WebloomError } from '@webloom/core'
import { crawlRedisKeys, noteCrawl } from '@webloom/queue'
import { type RedisCluster, startCluster, startRedis, startTcpProxy } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { RegistryDesks } from '../desk/registry-desks.ts'
import { checkRedisServers } from '../doctor/redis-checkup.ts'
import { lockedOutOf } from './cluster-look.ts'
import { deskServers } from './desk-servers.ts'
import { LastingTrouble } from './lasting-trouble.ts'
import { RedisServers } from './redis-servers.ts'

const LOOK_MS_MAX = 300

let cluster: RedisCluster
beforeAll(async () => {
  // A node that is gone is not given up while tests look at it.
  cluster = await startCluster({ password: 'p@ss/w', nodeTimeoutMs: 60_000 })
})
afterAll(() => cluster.stop())

const settingsOf = (url: string, startTimeoutS = 2) =>
  Settings.fromLayers({ command: { REDIS_URL: url, REDIS_START_TIMEOUT: startTimeoutS } })
const serversAt = (url: string, startTimeoutS = 2) => {
  const servers = new RedisServers(settingsOf(url, startTimeoutS), silentLogger)
  servers.connection('queue')
  return servers
}
const refusalOf = async (url: string, forWriting = false) => {
  // For all of that time it is tried again.
  const servers = serversAt(url, 1)
  const error = await servers.open({ forWriting }).catch((refused: Error) => refused)
  servers.close()
  return error
}

test('a cluster is used by the nodes that are named and those that they know', async () => {
  const servers = serversAt(cluster.url.split(',')[0]!)
  await servers.open()
  const redis = servers.connection('queue')!
  // Three slots, each on another master.
  const keys = ['{a}', '{b}', '{c}']
  await Promise.all(keys.map((key) => redis.set(key, key)))
  expect(await Promise.all(keys.map((key) => redis.get(key)))).toEqual(keys)
  const sizes = await Promise.all(cluster.nodes.map((node) => node.command('DBSIZE')))
  expect(sizes.map(Number).reduce((sum, size) => sum + size, 0)).toBe(3)
  expect(Math.max(...sizes.map(Number))).toBeLessThan(3)
  // What a component makes of it listens, and waits, on its own.
  const own = servers.redis('queue').duplicate()
  own.on('error', () => {})
  const popped = own.blpop('{a}list', 5)
  const heard = Promise.withResolvers<string>()
  const listening = servers.redis('queue').duplicate()
  listening.on('error', () => {})
  listening.on('message', (_channel, message) => heard.resolve(message))
  await listening.subscribe('news')
  await redis.publish('news', 'here')
  await redis.rpush('{a}list', '1')
  expect(await popped).toEqual(['{a}list', '1'])
  expect(await heard.promise).toBe('here')
  own.disconnect()
  listening.disconnect()
  servers.close()
})

test('a node named by redis:// is refused with the URL to write', async () => {
  expect(await checkRedisServers(settingsOf(cluster.nodes[0]!.url))).toMatchObject([
    { type: `export REDIS_URL='redis+cluster://user:password@127.0.0.1:${cluster.nodes[0]!.port}'` },
  ])
  expect(String(await refusalOf(cluster.nodes[0]!.url))).toContain(
    `is a node of a Redis Cluster (cluster_enabled:1). Write REDIS_URL=redis+cluster://user:password@127.0.0.1:${cluster.nodes[0]!.port}, with other nodes after commas`,
  )
})

test('a single server named by redis+cluster:// is refused', async () => {
  await using single = await startRedis()
  expect(await refusalOf(single.url.replace('redis:', 'redis+cluster:'))).toMatchObject({
    code: 'WL_REDIS_REFUSED',
    message: expect.stringContaining(
      'it is a single server and no Redis Cluster. Write redis:// in REDIS_URL',
    ),
  })
})

test('a wrong password, and nobody who answers, are told in words', async () => {
  expect(await refusalOf(cluster.url.replace('p%40ss', 'past'))).toMatchObject({
    code: 'WL_REDIS_REFUSED',
    message: expect.stringMatching(/does not know the user and password that REDIS_URL gives.*WRONGPASS/),
  })
  expect(await refusalOf('redis+cluster://127.0.0.1:1,127.0.0.1:2')).toMatchObject({
    code: 'WL_REDIS_UNREACHABLE',
    message: expect.stringMatching(/no node of the cluster that is named answers|ECONNREFUSED/),
  })
})

test.each([
  {
    what: 'a cluster that lets nobody in any more',
    nodeCount: 3,
    why: /let this process in any more.*WRONGPASS/,
  },
  { what: 'one node that does not', nodeCount: 1, why: /its node .* does not let this process in, though/ },
])('$what is waited for, and then all that waits for it hears why', async ({ nodeCount, why }) => {
  const locked = nodeCount === 1 ? [(await cluster.masterOf('{a}'))!] : cluster.nodes
  const users = (...words: string[]) =>
    Promise.all(locked.map((node) => node.command('ACL', ...(words as [string]))))
  await Promise.all(
    cluster.nodes.map((node) => node.command('ACL', 'SETUSER', 'loom', 'on', '>pw', '~*', '&*', '+@all')),
  )
  const lines: string[] = []
  const warn = (_fields: object | string, text?: string) => void lines.push(text ?? String(_fields))
  const url = cluster.url.replace(/\/\/:[^@]+@/, '//loom:pw@')
  const settings = Settings.fromLayers({ command: { REDIS_URL: url, REDIS_START_TIMEOUT: 0.6 } })
  const times = { ...PROTOCOL_TIMES, redis: { ...PROTOCOL_TIMES.redis, troubleMsMax: 0 } }
  const servers = new RedisServers(settings, { ...silentLogger, warn }, { times })
  const redis = servers.connection('queue')!
  const ended = Promise.withResolvers<Error>()
  servers.onHopeless(ended.resolve)
  await servers.open()
  const waiting = redis.duplicate()
  waiting.on('error', () => {})
  const popped = expect(waiting.blpop('{a}none', 60)).rejects.toThrow(why)
  await users('DELUSER', 'loom')
  await Promise.all(locked.map((node) => node.command('CLIENT', 'KILL', 'TYPE', 'normal').catch(() => {})))
  await expect(redis.get('{a}')).rejects.toThrow(why)
  expect((await ended.promise).message).toMatch(why)
  await popped
  await expect(redis.set('{b}', '1')).rejects.toThrow(why)
  expect(lines.filter((line) => why.test(line))).toHaveLength(1)
  servers.close()
})

test('a cluster that lets nobody in, but for a node that is silent, is given up, too', async () => {
  await using silent = await startTcpProxy({ target: cluster.nodes[0]!.url })
  silent.hang()
  const [target] = redisTargets(
    settingsOf(`${cluster.url.replace('p%40ss', 'past')},127.0.0.1:${silent.port}`),
    'queue',
  )
  const ended = Promise.withResolvers<Error>()
  const trouble = new LastingTrouble({
    ...{ client: new Redis({ lazyConnect: true }), told: new Set<string>(), logger: silentLogger },
    ...{ shown: target!.shown, setting: target!.setting, msMax: 60_000, lockedMsMax: LOOK_MS_MAX },
    lockedOut: (look) => lockedOutOf(target!, '', LOOK_MS_MAX, look),
    onHopeless: () => ended.resolve,
  })
  // As each command does that is refused.
  const refused = setInterval(() => trouble.onLoginRefused(), 20)
  expect((await ended.promise).message).toMatch(/does not let this process in any more.*WRONGPASS/)
  clearInterval(refused)
  trouble.close()
})

test('a node that nothing waits for ends no crawl, until something does', async () => {
  await Promise.all(
    cluster.nodes.slice(1).map((node) => node.command('ACL', 'SETUSER', 'apart', 'on', '>pw', '+@all')),
  )
  const [target] = redisTargets(settingsOf(cluster.url.replace(/\/\/:[^@]+@/, '//apart:pw@')), 'queue')
  const client = new Redis({ lazyConnect: true })
  const ended = Promise.withResolvers<Error>()
  const thrice = Promise.withResolvers<void>()
  let lookCount = 0
  const trouble = new LastingTrouble({
    ...{ client, told: new Set<string>(), logger: silentLogger },
    ...{ shown: target!.shown, setting: target!.setting, msMax: 60_000, lockedMsMax: 100 },
    lockedOut: (look) => {
      lookCount++
      if (lookCount === 4) thrice.resolve()
      return lockedOutOf(target!, '', 10_000, look)
    },
    onHopeless: () => ended.resolve,
  })
  trouble.onLoginRefused()
  await Promise.race([thrice.promise, ended.promise])
  expect(trouble.refusal).toBe(undefined)
  // As a cluster says it of a command that has a key there.
  client.emit('waits', 100)
  expect((await ended.promise).message).toContain('does not let this process in, though others do')
  trouble.close()
})

test('a node that lacked the user, and now says nothing, does not let us in', async () => {
  const node = cluster.nodes[0]!
  await Promise.all(
    cluster.nodes.slice(1).map((other) => other.command('ACL', 'SETUSER', 'mute', 'on', '>pw', '+@all')),
  )
  const [target] = redisTargets(settingsOf(cluster.url.replace(/\/\/:[^@]+@/, '//mute:pw@')), 'queue')
  const look = (timeoutMs: number, before?: WebloomError) =>
    lockedOutOf(target!, '', timeoutMs, { before, isLast: true })
  const before = await look(10_000)
  expect(before?.message).toContain(`its node 127.0.0.1:${node.port} does not let this process in`)
  await node.pause()
  try {
    await expect(look(LOOK_MS_MAX, before)).rejects.toThrow(/answer/)
  } finally {
    await node.resume()
  }
  await node.command('ACL', 'SETUSER', 'mute', 'on', '>pw', '+@all')
  expect(await look(10_000, before)).toBe(undefined)
})

test('what is sent to one node that lacks the user waits until it is given that, by the line that is told', async () => {
  const users = (words: readonly string[], nodes = cluster.nodes) =>
    Promise.all(nodes.map((node) => node.command('ACL', ...words)))
  await users(['SETUSER', 'late', 'on', '>pw', '~*', '&*', '+@all'])
  const told = Promise.withResolvers<string>()
  const over = Promise.withResolvers<void>()
  const logger = {
    ...silentLogger,
    warn: (_fields: object | string, text?: string) => {
      const line = text ?? String(_fields)
      if (line.includes('does not let')) told.resolve(line)
    },
    info: (_fields: object | string, text?: string) => {
      if (text === 'Redis lets this process in again; the crawl goes on') over.resolve()
    },
  }
  const url = cluster.url.replace(/\/\/:[^@]+@/, '//late:pw@')
  const servers = new RedisServers(settingsOf(url), logger, { spider: 'pages' })
  servers.onHopeless(() => {})
  const redis = servers.connection('queue')!
  await servers.open()
  const key = 'webloom:{pages}:record'
  const node = (await cluster.masterOf(key))!
  await users(['DELUSER', 'late'], [node])
  // Also where only a connection that was made of the first meets it.
  const made = redis.duplicate()
  made.on('error', () => {})
  const waiting = Promise.all(['1', '2'].map((value) => made.rpush(key, value)))
  const line = await told.promise
  expect(line).toContain(`its node 127.0.0.1:${node.port} does not let this process in, though others do`)
  expect(line).toMatch(/The crawl waits for up to 60 s/)
  expect(line).not.toContain('REDIS_URL')
  const masters = await Promise.all(['{a}', '{b}', '{c}'].map((at) => cluster.masterOf(at)))
  const elsewhere = ['{a}', '{b}', '{c}'].find((_at, n) => masters[n] !== node)!
  expect(await redis.set(elsewhere, '1')).toBe('OK')
  const refused = String(await refusalOf(url, true))
  expect(refused).toContain(`its node 127.0.0.1:${node.port} does not let this process in`)
  const [, typed] = /: ACL (SETUSER late .*?) \(docs/.exec(line)!
  await users(typed!.replace('<password>', 'pw').split(' '), [node])
  expect((await waiting).sort()).toEqual([1, 2])
  await over.promise
  made.disconnect()
  servers.close()
  await users(['DELUSER', 'late'])
})

test.each([
  { who: 'a cluster', nodeCount: 3 },
  { who: 'one node of it', nodeCount: 1 },
])('whoever runs no crawl goes on once $who lets it in again', async ({ nodeCount }) => {
  const users = (words: readonly string[], nodes = cluster.nodes) =>
    Promise.all(nodes.map((node) => node.command('ACL', ...words)))
  const user = ['SETUSER', 'viewer', 'on', '>pw', '~*', '&*', '+@all']
  await users(user)
  const url = cluster.url.replace(/\/\/:[^@]+@/, '//viewer:pw@')
  const settings = Settings.fromLayers({ command: { REDIS_URL: url, REDIS_START_TIMEOUT: 1 } })
  const times = { ...PROTOCOL_TIMES, redis: { ...PROTOCOL_TIMES.redis, troubleMsMax: 0 } }
  const servers = new RedisServers(settings, silentLogger, { times })
  const redis = servers.connection('queue')!
  await servers.open()
  const master = (await cluster.masterOf('{a}'))!
  const locked = nodeCount === 1 ? [master] : cluster.nodes
  await users(['LOG', 'RESET'], locked)
  await users(['DELUSER', 'viewer'], locked)
  // What is sent before the connections are seen to be cut is refused; what is sent then waits.
  const sent = redis.get('{a}').then(
    () => 'waited',
    (error: Error) => error.message,
  )
  await vi.waitFor(async () => expect((await users(['LOG'], locked)).flat()).not.toEqual([]))
  // Waits: a crawl is ended after a second here.
  await new Promise((resolve) => setTimeout(resolve, 1500))
  await users(user, locked)
  expect(await sent).toMatch(/waited|WRONGPASS|NOAUTH/)
  await vi.waitFor(async () => expect(await redis.get('{a}')).not.toBe(undefined))
  servers.close()
})

test('doctor names both nodes of a slot that is half moved', async () => {
  const [from, to] = cluster.nodes
  const slot = '{half}'
  const owner = (await cluster.masterOf(slot))!
  const other = owner === from ? to! : from!
  const number = Number(await owner.command('CLUSTER', 'KEYSLOT', slot))
  const id = String(await other.command('CLUSTER', 'MYID'))
  await owner.command('CLUSTER', 'SETSLOT', number, 'MIGRATING', id)
  const results = await checkRedisServers(settingsOf(cluster.url))
  await owner.command('CLUSTER', 'SETSLOT', number, 'STABLE')
  expect(results.filter(({ state }) => state === 'warn')).toContainEqual({
    check: 'Redis cluster',
    state: 'warn',
    found: expect.stringContaining(
      `127.0.0.1:${owner.port} has begun to move slot ${number} to 127.0.0.1:${other.port}: `,
    ),
    type: `redis-cli --cluster fix 127.0.0.1:${owner.port}`,
  })
})

test('doctor looks at each master, and its lines to type are for that one', async () => {
  const master = cluster.nodes[1]!
  await master.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
  const results = await checkRedisServers(settingsOf(cluster.url))
  await master.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  expect(results.filter(({ check }) => check === 'Redis')).toHaveLength(3)
  expect(results.find(({ check }) => check === 'Redis cluster')?.found).toContain('has no replica')
  expect(results.find(({ state }) => state === 'fail')).toMatchObject({
    check: 'Redis policy',
    type: `redis-cli -h 127.0.0.1 -p ${master.port} --askpass CONFIG SET maxmemory-policy noeviction`,
  })
})

test('and at how soon a master that is cut off from its replica stops', async () => {
  await using other = await startCluster({ masters: 1, replicas: 1 })
  const master = (await other.masterOf('any'))!
  const look = async () =>
    (await checkRedisServers(settingsOf(other.url))).find(({ check }) => check === 'Redis replicas')
  expect(await look()).toBe(undefined)
  // Whoever may not ask is told what to look at, and not that it is wrong.
  for (const node of other.nodes) await node.command('ACL', 'SETUSER', 'default', '-config|get')
  expect(await look()).toMatchObject({
    state: 'info',
    type: `redis-cli -h 127.0.0.1 -p ${master.port} CONFIG GET cluster-node-timeout`,
  })
  for (const node of other.nodes) await node.command('ACL', 'SETUSER', 'default', '+config|get')
  await master.command('CONFIG', 'SET', 'cluster-node-timeout', '15000')
  expect(await look()).toMatchObject({
    state: 'warn',
    type: `redis-cli -h 127.0.0.1 -p ${master.port} CONFIG SET cluster-node-timeout 3000`,
  })
  // What nodes announce is asked by doctor, and by a worker that cannot begin.
  const fails = async () =>
    (await checkRedisServers(settingsOf(other.url))).filter(({ state }) => state === 'fail')
  await master.command('CONFIG', 'SET', 'cluster-announce-ip', '127.9.9.1')
  const away = `127.9.9.1:${master.port} does not answer: connect ECONNREFUSED`
  await expect.poll(fails).toMatchObject([{ found: expect.stringContaining(away) }])
  // The replica hears of it by and by, and may be asked in the master's place.
  await expect
    .poll(async () => String(await refusalOf(other.url, true)), { timeout: 10_000 })
    .toMatch(/127\.9\.9\.1:.*announce that address.*cluster-announce-ip/)
  await master.command('CONFIG', 'SET', 'cluster-announce-ip', '')
  // A slot that no node has.
  await master.command('CLUSTER', 'DELSLOTS', '7')
  const down = 'takes nothing, as its cluster is down (CLUSTERDOWN, cluster_state:fail): 1 of 16384 slots'
  await expect
    .poll(fails)
    .toMatchObject([
      { found: expect.stringContaining(down), type: expect.stringContaining('--cluster check') },
    ])
  await expect.poll(async () => String(await refusalOf(other.url, true)), { timeout: 10_000 }).toContain(down)
})

// The last: it takes a node from the cluster.
test('a dashboard finds the crawls of a cluster, and says within seconds that its node is gone', async () => {
  const servers = serversAt(cluster.url)
  await servers.open()
  const redis = servers.connection('queue')!
  const name = { spider: 'near', crawlId: null }
  const { record } = crawlRedisKeys(name)
  await noteCrawl(redis, { ...name, statsKey: 'near:stats', release: '1.0.0' })
  await redis.hset(record, { state: 'running', format: '2' })
  servers.close()
  const desks = new RegistryDesks(deskServers({ redis: [cluster.url] }, undefined))
  try {
    expect(await desks.crawls()).toMatchObject([{ id: 'near', state: 'running' }])
    const desk = (await desks.desk('near'))!
    expect((await desk.status()).servers).toHaveLength(3)
    const lost = (await cluster.masterOf(record))!
    await lost.kill()
    // And so does doctor, of that one alone.
    const results = await checkRedisServers(settingsOf(cluster.url))
    expect(results.filter(({ check }) => check === 'Redis')).toHaveLength(2)
    expect(results.filter(({ state }) => state === 'fail')).toEqual([
      {
        check: 'Redis cluster',
        state: 'fail',
        found: expect.stringContaining(
          `the master 127.0.0.1:${lost.port} does not answer: connect ECONNREFUSED`,
        ),
        type: expect.stringMatching(/^redis-cli --cluster check 127\.0\.0\.1:\d+( |$)/),
      },
    ])
    await expect(desk.status()).rejects.toThrow(/cannot be reached|no answer|has not answered|closed/i)
  } finally {
    await desks.close()
  }
})
