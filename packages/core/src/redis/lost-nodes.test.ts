import { once } from 'node:events'
import type { Socket } from 'node:net'
import { InUse, MachineLag, type RedisCluster, type RedisServer, startCluster } from '@webloom/testkit'
import { Cluster, Redis } from 'ioredis'
import { expect, test, vi } from 'vitest'
import { newRedisClient } from './redis-client.ts'

/** No fail-over but those that are asked for. */
const NEVER_MS = 600_000
const BRIEFLY_MS = 200
const CONNECT_MS_MAX = 8000
const HEARD_MS_MAX = 2000
const LOOKS = 30
const KEY = 'page'

async function withLostMaster(used: InUse, options: { readonly connectTimeout: number }) {
  const cluster = await startCluster({ replicas: 1, nodeTimeoutMs: NEVER_MS })
  used.use({ [Symbol.asyncDispose]: () => cluster.stop() })
  const nodes = cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
  const behaviour = { maxRetriesPerRequest: null, retryStrategy: () => 50 }
  const client = newRedisClient({ Redis, Cluster }, { nodes, ...options }, behaviour)
  used.defer(() => client.disconnect())
  const told: string[] = []
  client.on('error', ({ message }: Error) => void told.push(message))
  await client.get(KEY)
  const master = (await cluster.masterOf(KEY))!
  const replica = await replicaOf(cluster, master)
  master.pause()
  used.defer(() => master.resume())
  const node = (client as unknown as Cluster).nodes().find(({ options: { port } }) => port === master.port)
  const lost = once(client, 'error')
  ;(node as unknown as { stream: Socket }).stream.destroy(new Error('lost'))
  await lost
  return { client: client as unknown as Cluster, master, replica, told }
}

async function replicaOf(cluster: RedisCluster, { port }: RedisServer): Promise<RedisServer> {
  for (const node of cluster.nodes) {
    const [role, , of] = (await node.command('ROLE')) as unknown[]
    if (role === 'slave' && of === port) return node
  }
  throw new Error(`${port} has no replica`)
}

test('a command that waits for a node that is lost goes to the one that has taken its place, though the connection is still being made', async () => {
  await using used = new InUse()
  const { client, master, replica } = await withLostMaster(used, { connectTimeout: CONNECT_MS_MAX })
  const connecting = new Promise<void>((resolve) => {
    client.on('+node', (node) => {
      if (node.options.port === master.port) node.once('connect', () => resolve())
    })
  })
  const answered = client.get(KEY)
  await connecting
  using lag = new MachineLag()
  const sinceMs = performance.now()
  await replica.command('CLUSTER', 'FAILOVER', 'TAKEOVER')
  await answered
  const nowMs = performance.now()
  expect(nowMs - sinceMs).toBeLessThan(HEARD_MS_MAX + lag.between(sinceMs, nowMs))
})

test('who has the slots is asked of others than the one that is lost', async () => {
  await using used = new InUse()
  const { client, told } = await withLostMaster(used, { connectTimeout: CONNECT_MS_MAX })
  for (let n = 0; n < LOOKS; n++)
    await new Promise<void>((resolve) => client.refreshSlotsCache(() => resolve()))
  expect(told.filter((message) => message === 'timeout')).toEqual([])
})

test('one that is well again is asked like the others, though nothing was sent to it', async () => {
  await using used = new InUse()
  const { client, master } = await withLostMaster(used, { connectTimeout: BRIEFLY_MS })
  master.resume()
  const askedTimes = async () => {
    const info = String(await master.command('INFO', 'commandstats'))
    return Number(/cmdstat_cluster\|slots:calls=(\d+)/.exec(info)?.[1] ?? 0)
  }
  const before = await askedTimes()
  await vi.waitUntil(async () => {
    await new Promise<void>((resolve) => client.refreshSlotsCache(() => resolve()))
    return (await askedTimes()) > before
  })
})

test('who knows two nodes, of which one belongs to no cluster, goes on when the other one is back', async () => {
  await using used = new InUse()
  const started = [startCluster({ nodeTimeoutMs: NEVER_MS }), startCluster({ masters: 1 })]
  const [cluster, lone] = (await Promise.all(started)) as [RedisCluster, RedisCluster]
  for (const one of [cluster, lone]) used.use({ [Symbol.asyncDispose]: () => one.stop() })
  const [known, alone] = [cluster.nodes[0]!, lone.nodes[0]!]
  await alone.command('CLUSTER', 'RESET', 'HARD')
  known.pause()
  const nodes = [known, alone].map(({ port }) => ({ host: '127.0.0.1', port }))
  const behaviour = { maxRetriesPerRequest: null, retryStrategy: () => 50 }
  const client = newRedisClient({ Redis, Cluster }, { nodes, connectTimeout: BRIEFLY_MS }, behaviour)
  used.defer(() => client.disconnect())
  const lost = once(client, 'error')
  client.on('error', () => {})
  const answered = client.get(KEY)
  await lost
  known.resume()
  await answered
})
