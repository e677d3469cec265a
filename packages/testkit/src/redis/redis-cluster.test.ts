import { expect, test } from 'vitest'
import { startCluster } from '../index.ts'

test('a master that is killed is followed by its replica, which has all of it', async () => {
  await using cluster = await startCluster({ replicas: 1, nodeTimeoutMs: 500, password: 'se:cret' })
  expect(cluster.nodes).toHaveLength(6)
  const first = (await cluster.masterOf('page'))!
  await first.command('SET', 'page', '1')
  expect(await first.command('WAIT', '1', '1000')).toBe(1)
  await first.kill()
  const next = await cluster.untilWritable('{page}2', first)
  expect(await next.command('GET', 'page')).toBe('1')
  expect(await cluster.masterOf('page', first)).toBe(next)
})
