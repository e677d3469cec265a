/** Who is not let in by a cluster, or by a node of it, is told so at once where no crawl runs yet. */

import { Settings, silentLogger } from '@webloom/core'
import { type RedisCluster, startCluster } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { RedisServers } from './redis-servers.ts'

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster()
})
afterAll(() => cluster.stop())

const users = (words: readonly string[], nodes = cluster.nodes) =>
  Promise.all(nodes.map((node) => node.command('ACL', ...(words as [string]))))
const ALL = ['on', '>pw', '~*', '&*', '+@all']

/** As one that waits would have it: longer than a test may take. */
const REDIS_START_TIMEOUT = 120

function serversAs(user: string, { isOutside = false } = {}) {
  const lines: string[] = []
  const warn = (_fields: object | string, text?: string) => void lines.push(text ?? String(_fields))
  const REDIS_URL = cluster.url.replace('//', `//${user}@`)
  const settings = Settings.fromLayers({ command: { REDIS_URL, REDIS_START_TIMEOUT } })
  const servers = new RedisServers(settings, { ...silentLogger, warn }, { spider: 'pages', isOutside })
  // As commands do.
  if (isOutside) servers.onHopeless(() => {})
  return { servers, redis: servers.connection('queue')!, lines }
}

test.each([
  { who: 'a user without CLUSTER SLOTS', user: 'apart:pw', why: /NOPERM.*cluster\|slots.*ACL SETUSER/ },
  { who: 'a wrong password', user: 'apart:no', why: /does not know the user and password.*WRONGPASS/ },
])('$who is refused by a cluster as soon as all nodes have refused it', async ({ user, why }) => {
  await users(['SETUSER', 'apart', ...ALL, '-cluster'])
  const { servers } = serversAs(user)
  await expect(servers.open({ forWriting: true })).rejects.toMatchObject({
    code: 'WL_REDIS_REFUSED',
    message: expect.stringMatching(why),
  })
  servers.close()
})

test('what whoever runs no crawl asks of one node that lets it in no more is refused by its name, and waits for nothing', async () => {
  await users(['SETUSER', 'late', ...ALL])
  const node = (await cluster.masterOf('{a}'))!
  const { servers, redis, lines } = serversAs('late:pw', { isOutside: true })
  await servers.open()
  await users(['DELUSER', 'late'], [node])
  for (let times = 0; times < 3; times++)
    await expect(redis.get('{a}')).rejects.toThrow(
      `its node 127.0.0.1:${node.port} does not let this process in`,
    )
  expect(lines.filter((line) => line.includes('waits for'))).toEqual([])
  servers.close()
})

test('of a password that no node needs nothing is written past our log', async () => {
  const warned = vi.spyOn(console, 'warn')
  const { servers, redis, lines } = serversAs(':pw')
  servers.connection('dupefilter')
  await servers.open({ forWriting: true })
  const listens = redis.duplicate()
  await listens.subscribe('news')
  listens.disconnect()
  expect(warned.mock.calls).toEqual([])
  expect(lines).toEqual([])
  servers.close()
})
