import { Settings, silentLogger } from '@webloom/core'
import { startCluster } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { RedisServers } from './redis-servers.ts'

test('a master that is away as a crawl starts is waited for, within REDIS_START_TIMEOUT', async () => {
  // It is not given up by the others meanwhile.
  await using cluster = await startCluster({ nodeTimeoutMs: 60_000 })
  const starting = (startTimeoutS: number) => {
    const settings = { REDIS_URL: cluster.url, REDIS_START_TIMEOUT: startTimeoutS }
    const servers = new RedisServers(Settings.fromLayers({ command: settings }), silentLogger)
    let misses = 0
    servers.connection('queue')!.on('error', () => misses++)
    const opened = servers.open({ forWriting: true }).finally(() => servers.close())
    opened.catch(() => {})
    return { opened, isMissed: () => misses > 10 }
  }
  const [away] = cluster.nodes
  await away!.kill()
  await expect(starting(1).opened).rejects.toMatchObject({ code: 'WL_REDIS_UNREACHABLE' })
  const { opened, isMissed } = starting(30)
  // By then that one was asked for itself, too.
  await Promise.race([vi.waitUntil(isMissed, { timeout: 20_000 }), opened])
  await away!.restart()
  await opened
})
