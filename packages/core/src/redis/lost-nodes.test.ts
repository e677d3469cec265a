import { once } from 'node:events'
import type { Socket } from 'node:net'
import { InUse, MachineLag, type RedisCluster, type RedisServer, startCluster } from '@webloom/testkit'
import { Cluster, Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { newRedisClient } from './redis-client.ts'

/** No fail-over but those that are asked for. */
const NEVER_MS = 600_000
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
  const { client, told } = await withLostMaster(used, { connectTimeout: 200 })
  for (let n = 0; n < LOOKS; n++)
    await new Promise<void>((resolve) => client.refreshSlotsCache(() => resolve()))
  expect(told.filter((message) => message === 'timeout')).toEqual([])
})
