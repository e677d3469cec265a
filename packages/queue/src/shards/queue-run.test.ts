/** What is deleted by a run's word must not be needed any more: a master that is cut off answers for longer than it takes writes. */

import { newRedisClient } from '@webloom/core'
import { startCluster, startRedis, startSentinels } from '@webloom/testkit'
import { Cluster, Redis } from 'ioredis'
import { expect, test, vi } from 'vitest'
import { crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { slotOf } from '../redis/key-slot.ts'
import { QueueRun } from './queue-run.ts'

const KEYS = crawlRedisKeys({ spider: 'quotes', crawlId: null })

function connect(ports: readonly number[], isCluster: boolean): Redis & Disposable {
  const [port, ...rest] = ports.map((one) => ({ host: '127.0.0.1', port: one }))
  const options = isCluster ? { nodes: [port!, ...rest] } : port!
  const behaviour = { retryStrategy: () => 50, maxRetriesPerRequest: null }
  const redis = newRedisClient({ Redis, Cluster }, options, behaviour) as Redis
  redis.on('error', () => {})
  return Object.assign(redis, { [Symbol.dispose]: () => redis.disconnect() })
}

test('a server without replicas keeps what it has', async () => {
  await using server = await startRedis()
  using redis = connect([server.port], false)
  const run = new QueueRun({ redis, keys: KEYS })
  expect(await run.id()).toMatch(/^[0-9a-f]{40}$/)
  expect(await run.keptId()).toBe(await run.id())
})

test('one whose replica is silent goes on with its run, and keeps nothing until the replica is near again', async () => {
  // It takes writes all the while, as a master of a cluster does.
  const config = { 'min-replicas-to-write': '0' }
  await using pair = await startSentinels({ replicas: 1, sentinels: 1, downAfterMs: 60_000, config })
  const [master, replica] = pair.servers
  using redis = connect([master!.port], false)
  const run = new QueueRun({ redis, keys: KEYS })
  const id = await run.id()
  await vi.waitFor(async () => expect(await run.keptId()).toBe(id), { timeout: 5000 })
  await replica!.pause()
  await vi.waitFor(() => expect(run.keptId()).rejects.toMatchObject({ code: 'WL_REDIS_AWAY' }), {
    timeout: 5000,
  })
  expect(await run.id()).toBe(id)
  await replica!.resume()
  await vi.waitFor(async () => expect(await run.keptId()).toBe(id), { timeout: 5000 })
  // Its run is the same when it is a master no more.
  await master!.command('REPLICAOF', '127.0.0.1', replica!.port)
  await expect(run.keptId()).rejects.toMatchObject({ code: 'WL_REDIS_AWAY' })
})

test('one that loses its replicas is not believed to have none before a while is over: they may have another master', async () => {
  const config = { 'min-replicas-to-write': '0' }
  await using pair = await startSentinels({ replicas: 1, sentinels: 1, downAfterMs: 60_000, config })
  const [master, replica] = pair.servers
  using redis = connect([master!.port], false)
  const run = new QueueRun({ redis, keys: KEYS })
  const hasty = new QueueRun({ redis, keys: KEYS, replicasGoneMs: 1 })
  await vi.waitFor(async () =>
    expect(String(await master!.command('INFO', 'replication'))).toMatch(
      /^slave0:.*state=online,offset=[1-9]/m,
    ),
  )
  const id = await run.id()
  for (const each of [run, hasty]) await vi.waitFor(async () => expect(await each.keptId()).toBe(id))
  await vi.waitFor(async () => {
    await replica!.command('REPLICAOF', 'NO', 'ONE')
    expect(String(await master!.command('INFO', 'replication'))).toContain('connected_slaves:0')
  })
  await expect(run.keptId()).rejects.toMatchObject({ code: 'WL_REDIS_AWAY' })
  expect(await hasty.keptId(), 'for which it is over').toBe(id)
})

test('each server that has a shard is asked by a key of its own: none that has lost its cluster tells its run', async () => {
  await using cluster = await startCluster()
  const ports = cluster.nodes.map(({ port }) => port)
  using redis = connect(ports, true)
  const run = new QueueRun({ redis, keys: KEYS, shards: 12 })
  const id = await run.keptId()
  for (const node of cluster.nodes) await node.command('CONFIG', 'RESETSTAT')
  expect(await run.id()).toBe(id)
  expect(await run.keptId()).toBe(id)
  for (const node of cluster.nodes) {
    const stats = String(await node.command('INFO', 'commandstats'))
    expect(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1], 'once a question, whatever shards it has').toBe('2')
  }
  const node = (await cluster.masterOf(KEYS.record))!
  await node.command('CLUSTER', 'DELSLOTS', String(slotOf(KEYS.record)))
  await expect(node.command('GET', KEYS.record)).rejects.toThrow('CLUSTERDOWN')
  const isTold = vi.fn()
  for (const one of [run.id(), run.keptId()]) one.then(isTold, () => {})
  // It tells about itself all the while.
  for (let n = 0; n < 20; n++) expect(await node.command('INFO', 'server')).toContain('run_id:')
  expect(isTold).not.toHaveBeenCalled()
})
