import { Settings } from '@webloom/core'
import { crawlRedisKeys, noteCrawl } from '@webloom/queue'
import { Spider } from '@webloom/spider'
import { type RedisCluster, type RedisServer, startCluster } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { CrawlShards } from '../../../queue/src/shards/crawl-shards.ts'
import { withCrawlFromOutside } from '../assembly/crawl-from-outside.ts'
import { checkRedisServers } from '../doctor/redis-checkup.ts'
import { deskServers } from '../redis/desk-servers.ts'
import { refusalOf } from '../redis/redis-refusal.ts'
import { readStatus } from './read-status.ts'
import { RegistryDesks } from './registry-desks.ts'

/** Which node is asked first is chance: a look meets one of three first in a third of all cases. */
const LOOKS = 12
const SHARDS = 6
const NAME = { spider: 'near', crawlId: null }
const { record } = crawlRedisKeys(NAME)
const shards = new CrawlShards(crawlRedisKeys(NAME), SHARDS)

class Near extends Spider {
  override name = 'near'
}

let cluster: RedisCluster
let url: string
beforeAll(async () => {
  cluster = await startCluster({ password: 'admin' })
  url = cluster.url.replace(/\/\/:[^@]+@/, '//loom:pw@')
  await letIn()
  const redis = new Redis.Cluster(
    cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })),
    { redisOptions: { password: 'admin' } },
  )
  await noteCrawl(redis as unknown as Redis, { ...NAME, statsKey: 'near:stats', release: '1.0.0' })
  await redis.hset(record, { state: 'running', format: '2', shards: String(SHARDS) })
  redis.disconnect()
})
afterAll(() => cluster.stop())
beforeEach(() => letIn())

const letIn = () =>
  Promise.all(
    cluster.nodes.map((node) => node.command('ACL', 'SETUSER', 'loom', 'on', '>pw', '~*', '&*', '+@all')),
  )
/** One that keeps a shard, and neither the record nor the list of crawls. */
async function nodeOfShards(): Promise<RedisServer> {
  const others = await Promise.all([record, 'webloom:crawls'].map((key) => cluster.masterOf(key)))
  const nodes = await Promise.all(shards.names.map((name) => cluster.masterOf(shards.keysOf(name).record)))
  return nodes.find((node) => !others.includes(node))!
}

const place = ({ port }: RedisServer) => `127.0.0.1:${port}`
const config = { path: '', folder: process.cwd(), spiders: [], settings: {} }
/** All at once, as each waits for a while. */
const looks = <T>(look: () => Promise<T>) => Promise.all(Array.from({ length: LOOKS }, look))
const statusFromOutside = () => withCrawlFromOutside(Near, { set: [`REDIS_URL=${url}`] }, config, readStatus)

test('a node of a cluster that lacks the user: status tells of the others each time, and names shards and server', async () => {
  const locked = await nodeOfShards()
  await locked.command('ACL', 'DELUSER', 'loom')
  for (const { state, silentShards, servers } of await looks(statusFromOutside)) {
    expect(state).toBe('running')
    expect(new Set(silentShards.map(({ server }) => server))).toEqual(new Set([place(locked)]))
    expect(servers.map(({ version }) => version).filter(Boolean)).toHaveLength(2)
    expect(servers.find(({ version }) => !version)).toMatchObject({
      shown: expect.stringContaining(place(locked)),
      warnings: [expect.stringMatching(/^it does not let this process in|^there is no connection to it/)],
    })
  }
})

test('and where it keeps the record, each look is refused with the node and the line to type there', async () => {
  const locked = (await cluster.masterOf(record))!
  await locked.command('ACL', 'DELUSER', 'loom')
  for (const thrown of await looks(() => statusFromOutside().catch((error: unknown) => error))) {
    const error = refusalOf(thrown)
    expect(error?.message).toContain(`its node ${place(locked)} does not let this process in`)
    expect(error?.message).toContain(`(redis-cli -h 127.0.0.1 -p ${locked.port}): ACL SETUSER loom on `)
  }
})

test('a dashboard tells of the others, too, and names the node where it keeps what is asked for', async () => {
  const desks = new RegistryDesks(deskServers({ redis: [url] }, undefined))
  try {
    const locked = await nodeOfShards()
    await locked.command('ACL', 'DELUSER', 'loom')
    expect(await desks.crawls()).toMatchObject([{ id: 'near', state: 'running' }])
    const desk = (await desks.desk('near'))!
    expect((await desk.status()).silentShards[0]).toMatchObject({ server: place(locked) })
    expect((await desk.scale!()).words).toContain(`at ${place(locked)} does not answer`)
    expect(await desk.hosts?.()).toMatchObject({ mode: 'turns' })
    await letIn()
    const home = (await cluster.masterOf(record))!
    await home.command('ACL', 'DELUSER', 'loom')
    const [{ trouble } = {}] = await desks.crawls()
    expect(trouble).toContain(`its node ${place(home)} does not let this process in`)
    await expect(desk.status()).rejects.toThrow(`its node ${place(home)} does not let this process in`)
  } finally {
    await desks.close()
  }
})

test('doctor has the line that gives the node the user', async () => {
  const locked = await nodeOfShards()
  await locked.command('ACL', 'DELUSER', 'loom')
  const settings = Settings.fromLayers({ command: { REDIS_URL: url } })
  for (let look = 0; look < LOOKS; look++) {
    const results = await checkRedisServers(settings, 'near')
    expect(results.filter(({ check }) => check === 'Redis').map(({ state }) => state)).toEqual(['ok', 'ok'])
    const [{ type = '' } = {}, ...more] = results.filter(({ state }) => state === 'fail')
    expect(more).toEqual([])
    expect(type).toMatch(
      new RegExp(`^redis-cli -h 127.0.0.1 -p ${locked.port} ACL SETUSER loom on '><password>' .*\\+evalsha `),
    )
  }
})
