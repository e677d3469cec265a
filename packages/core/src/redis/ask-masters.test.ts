import { startCluster } from '@webloom/testkit'
import { Cluster, Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { askMasters } from './cluster-client.ts'
import { newRedisClient } from './redis-client.ts'

test('a master that is lost while it is asked is waited for, and refusals are not', async () => {
  // A node that is gone is not given up before it is there again.
  await using cluster = await startCluster({ nodeTimeoutMs: 60_000 })
  const nodes = cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
  const client = newRedisClient({ Redis, Cluster }, { nodes }, { retryStrategy: () => 1 })
  client.on('error', () => {})
  expect(await askMasters(client, (master) => master.ping())).toEqual(['PONG', 'PONG', 'PONG'])
  const [lost] = cluster.nodes
  let refusals = 0
  let isKilled = false
  const asked = askMasters(client, async (master) => {
    if (master.options.port !== lost!.port) return master.ping()
    if (!isKilled) {
      isKilled = true
      await lost!.kill()
    }
    return master.ping().catch(async (error: Error) => {
      if (++refusals === 2) await lost!.restart()
      throw error
    })
  })
  expect(await asked).toEqual(['PONG', 'PONG', 'PONG'])
  expect(refusals).toBeGreaterThanOrEqual(2)
  await expect(askMasters(client, (master) => master.call('NONE'))).rejects.toThrow('unknown command')
  await lost!.kill()
  await expect(askMasters(client, (master) => master.ping(), 200)).rejects.toMatchObject({
    code: 'WL_REDIS_UNREACHABLE',
  })
  const ended = askMasters(client, (master) => master.ping())
  client.disconnect()
  await expect(ended).rejects.toThrow('Connection is closed')
})
