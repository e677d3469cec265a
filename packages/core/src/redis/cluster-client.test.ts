import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { InUse, type RedisCluster, type RedisServer, startCluster } from '@webloom/testkit'
import { Cluster, Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newRedisClient } from './redis-client.ts'

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster()
})
afterAll(() => cluster.stop())

/** ioredis ends it each time that it looks for another one; Node takes eleven listeners for a leak. */
const LOOKS = 40
/** Of six clients that were ended and connected again one, or two, stayed closed. */
const ENDS = 60

test('what listens to a cluster that lets nobody in any more ends the connection that it had once', async () => {
  const users = (...words: [string, ...string[]]) =>
    Promise.all(cluster.nodes.map((node) => node.command('ACL', ...words)))
  await users('SETUSER', 'hearer', 'on', '>pw', '~*', '&*', '+@all')
  const warnings: string[] = []
  const warned = ({ name }: Error) => void warnings.push(name)
  process.on('warning', warned)
  const nodes = cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
  const options = { nodes, username: 'hearer', password: 'pw' }
  const client = newRedisClient({ Redis, Cluster }, options, { retryStrategy: () => 1 })
  client.on('error', () => {})
  await client.subscribe('news')
  let looks = 0
  const { subscriber } = client as unknown as { readonly subscriber: { selectSubscriber(): void } }
  const select = subscriber.selectSubscriber.bind(subscriber)
  subscriber.selectSubscriber = () => {
    looks++
    select()
  }
  await users('DELUSER', 'hearer')
  await vi.waitUntil(() => looks > LOOKS)
  client.disconnect()
  process.off('warning', warned)
  expect(warnings).not.toContain('MaxListenersExceededWarning')
})

test('who connects while the cluster has too few masters hears when they are back', async () => {
  await using few = await startCluster({ replicas: 0, nodeTimeoutMs: 500 })
  await using used = new InUse()
  const [asked, ...silent] = few.nodes as [RedisServer, ...RedisServer[]]
  const options = { nodes: [{ host: '127.0.0.1', port: asked.port }], connectTimeout: 200 }
  const client = newRedisClient({ Redis, Cluster }, options, { lazyConnect: true, retryStrategy: () => 1 })
  used.defer(() => client.disconnect())
  client.on('error', () => {})
  for (const node of silent) node.pause()
  await vi.waitUntil(async () =>
    String(await asked.command('CLUSTER', 'INFO')).includes('cluster_state:fail'),
  )
  const again = new Promise((resolve) => client.once('reconnecting', resolve))
  const connected = client.connect()
  await again
  for (const node of silent) node.resume()
  await connected
  expect(client.status).toBe('ready')
})

// The testkit's servers listen there alone.
const { address: LOCALHOST } = await lookup('localhost')

test.skipIf(LOCALHOST !== '127.0.0.1')(
  'one whose servers have names connects again each time that it was ended',
  async () => {
    const nodes = cluster.nodes.map(({ port }) => ({ host: 'localhost', port }))
    const client = newRedisClient(
      { Redis, Cluster },
      { nodes },
      { maxRetriesPerRequest: null, retryStrategy: () => 1 },
    )
    client.on('error', () => {})
    for (let time = 0; time < ENDS; time++) {
      await client.set('page', String(time))
      const ended = once(client, 'end')
      client.disconnect()
      await ended
      void client.connect().catch(() => {})
    }
    expect(await client.get('page')).toBe(String(ENDS - 1))
    client.disconnect()
  },
)

test('one that is ended between two tries to connect says so, and commands reject', async () => {
  await using gone = await startCluster({ masters: 3 })
  const nodes = gone.nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
  const behaviour = { maxRetriesPerRequest: null, retryStrategy: () => 60_000 }
  const client = newRedisClient({ Redis, Cluster }, { nodes }, behaviour)
  client.on('error', () => {})
  await client.set('page', '1')
  const tries = new Promise((resolve) => client.once('reconnecting', resolve))
  await gone.stop()
  // It loses each of them as it turns to it.
  void client.get('page').catch(() => {})
  await tries
  const asked = expect(client.get('page')).rejects.toThrow('None of startup nodes is available')
  const ended = once(client, 'end')
  client.disconnect()
  await Promise.all([ended, asked])
})
