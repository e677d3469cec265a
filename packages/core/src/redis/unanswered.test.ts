import { type RedisCluster, startCluster } from '@webloom/testkit'
import { Cluster, Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { rejectUnanswered } from './cluster-client.ts'
import { newRedisClient } from './redis-client.ts'

const TIMES = { firstMs: 300, laterMs: 900 }

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster()
  for (const node of cluster.nodes) await node.command('CONFIG', 'SET', 'cluster-require-full-coverage', 'no')
})
afterAll(() => cluster.stop())

function clientThatEnds() {
  const nodes = cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
  const redis = newRedisClient({ Redis, Cluster }, { nodes } as never, { retryStrategy: () => 50 })
  redis.on('error', () => {})
  const late = vi.fn(async (server: string, ms: number) => new Error(`${server} late after ${ms}`))
  rejectUnanswered(redis, { late, times: TIMES })
  return { redis, late }
}

test('commands for a master that is away end, later ones at once, and one that answered before is waited for longer', async () => {
  const before = clientThatEnds()
  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  await Promise.all(keys.map((key) => before.redis.set(key, key)))
  const away = cluster.nodes[0]!
  const masters = await Promise.all(keys.map((key) => cluster.masterOf(key)))
  const [lost, alive] = [keys[masters.indexOf(away)]!, keys[masters.findIndex((one) => one !== away)]!]
  await away.kill()
  const place = `127.0.0.1:${away.port}`
  const { redis, late } = clientThatEnds()
  await expect(redis.get(lost)).rejects.toThrow(`${place} late after ${TIMES.firstMs}`)
  const startedAt = performance.now()
  await expect(redis.set(lost, '')).rejects.toThrow(place)
  expect(performance.now() - startedAt).toBeLessThan(TIMES.firstMs / 2)
  expect(late).toHaveBeenCalledTimes(1)
  expect(await redis.get(alive)).toBe(alive)
  await expect(before.redis.get(lost)).rejects.toThrow(`${place} late after ${TIMES.laterMs}`)
  for (const client of [redis, before.redis]) client.disconnect()
})
