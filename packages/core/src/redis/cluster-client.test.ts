import { type RedisCluster, startCluster } from '@webloom/testkit'
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
