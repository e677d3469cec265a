import { setTimeout as sleep } from 'node:timers/promises'
import { newRedisClient } from '@webloom/core'
import {
  MachineLag,
  type RedisServer,
  startCluster,
  startRedis,
  startSentinels,
  startTcpProxy,
} from '@webloom/testkit'
import { Cluster, Redis } from 'ioredis'
import { describe, expect, test, vi } from 'vitest'
import { until } from '../../testing/crawl-bench.ts'
import { RedisMemory, redisHealth, staleTooSoon } from './redis-memory.ts'

/** A client that is gone with its test. */
function connect(url: string): Redis & AsyncDisposable {
  const redis = new Redis(url, { maxRetriesPerRequest: null })
  redis.on('error', () => {})
  return Object.assign(redis, { [Symbol.asyncDispose]: async () => redis.disconnect() })
}

function connectBy(sentinel: { readonly port: number }): Redis & AsyncDisposable {
  const redis = new Redis({ sentinels: [{ host: '127.0.0.1', port: sentinel.port }], name: 'crawls' })
  redis.on('error', () => {})
  return Object.assign(redis, { [Symbol.asyncDispose]: async () => redis.disconnect() })
}

async function fill(server: RedisServer, megabytes: number): Promise<void> {
  for (let n = 0; n < megabytes; n++) await server.command('SET', `filler${n}`, 'x'.repeat(1_000_000))
}

describe('RedisMemory', () => {
  test('knows soon that a Redis is above the mark, and that it is not any more', async () => {
    await using server = await startRedis({ maxmemory: '20mb' })
    await using redis = connect(server.url)
    const memory = new RedisMemory({ redis })
    expect(await memory.isAbove(0.5)).toBe(false)
    await fill(server, 12)
    await until(() => memory.isAbove(0.5), 5000)
    expect(await memory.isAbove(0.99)).toBe(false)
    await server.command('FLUSHALL')
    await until(async () => !(await memory.isAbove(0.5)), 5000)
  })

  test('of several masters the fullest counts, also where only one has a maxmemory', async () => {
    await using cluster = await startCluster({ masters: 2 })
    const nodes = cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
    const redis = newRedisClient({ Redis, Cluster }, { nodes }, { lazyConnect: true }) as Redis
    await redis.connect()
    const memory = new RedisMemory({ redis })
    expect(await memory.isAbove(0.5)).toBe(false)
    await cluster.nodes[1]!.command('CONFIG', 'SET', 'maxmemory', '1mb')
    await until(() => memory.isAbove(0.5), 5000)
    redis.disconnect()
  })

  test('a Redis without maxmemory is never above it, and neither is one where the mark is 0', async () => {
    await using server = await startRedis()
    await using redis = connect(server.url)
    expect(await new RedisMemory({ redis }).isAbove(0.0001)).toBe(false)
    await server.command('CONFIG', 'SET', 'maxmemory', '100mb')
    expect(await new RedisMemory({ redis }).isAbove(0.0001)).toBe(true)
    expect(await new RedisMemory({ redis }).isAbove(0)).toBe(false)
  })

  test('asks at most once a second, however many ask', async () => {
    await using server = await startRedis()
    await using proxy = await startTcpProxy({ target: server.url })
    await using redis = connect(proxy.url)
    await redis.ping()
    proxy.resetCounts()
    const memory = new RedisMemory({ redis })
    for (let n = 0; n < 50; n++) await Promise.all([memory.isAbove(0.5), memory.isAbove(0.9)])
    expect(proxy.commands.filter(({ name }) => name === 'INFO')).toHaveLength(1)
  })

  test('while Redis does not answer, what was last known holds', async () => {
    await using server = await startRedis({ maxmemory: '100mb' })
    await using proxy = await startTcpProxy({ target: server.url })
    await using redis = connect(proxy.url)
    const memory = new RedisMemory({ redis })
    expect(await memory.isAbove(0.0001)).toBe(true)
    proxy.hang()
    using lag = new MachineLag()
    const askedAt = performance.now()
    while (performance.now() - askedAt < 1500) {
      expect(await memory.isAbove(0.0001)).toBe(true)
      // Waits: as a scheduler does between two questions.
      await sleep(10)
    }
    expect(performance.now() - askedAt).toBeLessThan(6000 + lag.ms)
  })
})

describe('redisHealth', () => {
  test('a Redis that keeps all it is told has no warnings', async () => {
    await using server = await startRedis({ appendonly: 'everysec', maxmemory: '64mb' })
    await using redis = connect(server.url)
    const health = await redisHealth(redis)
    expect(health).toMatchObject({
      maxmemoryPolicy: 'noeviction',
      persistence: 'aof',
      maxBytes: 64 * 2 ** 20,
      warnings: [],
    })
    expect(health.version).toMatch(/^\d+\.\d+/)
    expect(health.usedBytes).toBeGreaterThan(100_000)
  })

  test('one that evicts and keeps nothing has two, which say what to set', async () => {
    await using server = await startRedis({ maxmemoryPolicy: 'allkeys-lru' })
    await using redis = connect(server.url)
    const { persistence, warnings } = await redisHealth(redis)
    expect(persistence).toBe('none')
    expect(warnings).toEqual([
      expect.stringMatching(/allkeys-lru.*maxmemory-policy noeviction/),
      expect.stringMatching(/appendonly yes/),
    ])
  })

  test('one that takes writes without its replicas has one, and one that waits for a replica another', async () => {
    await using trio = await startSentinels({ sentinels: 1 })
    const [master, ...replicas] = trio.servers
    await using redis = connect(master!.url)
    const bounded = await redisHealth(redis)
    expect(bounded).toMatchObject({ warnings: [], lossMs: 3000 })
    expect(staleTooSoon(bounded, 10_000)).toBeUndefined()
    expect(staleTooSoon(bounded, 3000)).toMatch(
      /is 3 s, and a fail-over may lose the last 3 s: .* Set DUPEFILTER_PENDING_STALE=10$/,
    )
    await master!.command('CONFIG', 'SET', 'min-replicas-max-lag', '10')
    expect((await redisHealth(redis)).warnings).toEqual([
      expect.stringMatching(/the last 12 s is lost .* bridges 5 s.* Set min-replicas-max-lag 1$/),
    ])
    await master!.command('ACL', 'SETUSER', 'default', '-config')
    expect((await redisHealth(redis)).warnings).toEqual([
      expect.stringMatching(/may not ask how old they may be.*Set min-replicas-max-lag 1$/),
    ])
    await master!.command('ACL', 'SETUSER', 'default', '+config')
    await master!.command('CONFIG', 'SET', 'min-replicas-max-lag', '1')
    await master!.command('CONFIG', 'SET', 'min-replicas-to-write', '0')
    expect(await redisHealth(redis)).toMatchObject({
      replication: expect.stringMatching(/is lost when one takes its place\. Set min-replicas-to-write 1/),
      warnings: [expect.stringContaining('min-replicas-to-write 1')],
    })
    await master!.command('CONFIG', 'SET', 'min-replicas-to-write', '1')
    await Promise.all(replicas.map((replica) => replica.kill()))
    await vi.waitFor(async () =>
      expect((await redisHealth(redis)).warnings).toEqual([expect.stringContaining('takes no writes')]),
    )
  })

  test('one with a single replica that Sentinels would put in its place has one, and one whose replica is a copy only has none', async () => {
    await using trio = await startSentinels({ replicas: 1, sentinels: 1 })
    const [master] = trio.servers
    await using redis = connect(master!.url)
    await using watched = connectBy(trio.sentinels[0]!)
    expect((await redisHealth(watched)).warnings).toEqual([])
    await master!.command('CONFIG', 'SET', 'min-replicas-to-write', '0')
    expect(await redisHealth(watched)).toMatchObject({
      replication: expect.stringMatching(/only replica.* Start a second one.* Set min-replicas-to-write 1/),
      warnings: [expect.stringMatching(/min-replicas-max-lag 1$/)],
    })
    expect((await redisHealth(redis)).warnings).toEqual([])
  })

  test('one of a cluster with a replica is told when it may be cut off for longer than a crawl bridges', async () => {
    await using cluster = await startCluster({ masters: 1, replicas: 1 })
    const master = (await cluster.masterOf('any'))!
    await using redis = connect(master.url)
    expect(await redisHealth(redis)).toMatchObject({ warnings: [], lossMs: 4500 })
    // Redis's default.
    await master.command('CONFIG', 'SET', 'cluster-node-timeout', '15000')
    const health = await redisHealth(redis)
    expect(health.warnings).toEqual([
      expect.stringMatching(/the last 22\.5 s is lost .* bridges 5 s.* Set cluster-node-timeout 3000$/),
    ])
    expect(staleTooSoon(health, 10_000)).toMatch(/the last 22\.5 s.* Set DUPEFILTER_PENDING_STALE=45$/)
    await master.command('CONFIG', 'SET', 'min-replicas-to-write', '1')
    await master.command('CONFIG', 'SET', 'min-replicas-max-lag', '1')
    await vi.waitFor(async () =>
      expect(await redisHealth(redis)).toMatchObject({ warnings: [], lossMs: 3000 }),
    )
    await master.command('CONFIG', 'SET', 'min-replicas-to-write', '0')
    await master.command('ACL', 'SETUSER', 'default', '-config')
    expect((await redisHealth(redis)).warnings).toEqual([
      expect.stringMatching(/may not ask how soon.* Set cluster-node-timeout 3000$/),
    ])
  })

  test('snapshots alone are told, and where CONFIG is not allowed, what is not known of them', async () => {
    await using server = await startRedis({ config: { save: '3600 1' } })
    await using redis = connect(server.url)
    expect(await redisHealth(redis)).toMatchObject({
      persistence: 'rdb',
      warnings: [expect.stringMatching(/snapshots/)],
    })
    await server.command('ACL', 'SETUSER', 'default', '-config')
    expect(await redisHealth(redis)).toMatchObject({
      persistence: 'unknown',
      warnings: [expect.stringMatching(/no append-only file, and its user may not ask.*Set appendonly yes/)],
    })
  })
})
