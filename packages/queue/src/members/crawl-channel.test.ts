import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { newRedisClient } from '@webloom/core'
import { InUse, startCluster, startRedis, startTcpProxy, type TcpProxy } from '@webloom/testkit'
import { Cluster, Redis } from 'ioredis'
import { expect, test, vi } from 'vitest'
import { crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { CrawlChannel } from './crawl-channel.ts'

const keys = crawlRedisKeys({ spider: 'talk', crawlId: null })

async function openChannel(used: InUse) {
  const server = used.use(await startRedis())
  const proxy = used.use(await startTcpProxy({ target: server.url }))
  const connect = (url: string) => {
    const redis = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 20 })
    redis.on('error', () => {})
    used.defer(() => redis.disconnect())
    return redis
  }
  const redis = connect(proxy.url)
  const duplicate = vi.spyOn(redis, 'duplicate')
  const channel = new CrawlChannel({ redis, keys })
  used.defer(() => channel.close())
  await channel.open()
  return { channel, proxy, listening: duplicate.mock.results[0]!.value as Redis, other: connect(server.url) }
}

/** Resolves when a connection has subscribed again, and does not hear Redis's answer to that. */
function hangAtSubscribe(proxy: TcpProxy): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  proxy.judgeBy(([command]) => {
    if (command === 'SUBSCRIBE') {
      proxy.hang()
      resolve()
    }
    return 'forward'
  })
  return promise
}

test('who listens hears again when Redis is back, and looks up what was asked meanwhile', async () => {
  await using used = new InUse()
  const { channel, proxy, other } = await openChannel(used)
  let asked = 0
  const nudged: string[] = []
  channel.listen({ onAsked: () => asked++, onNudged: (_worker, { unit }) => nudged.push(unit) })
  proxy.cutAll()
  await vi.waitFor(() => expect(asked).toBe(1))
  await other.publish(`${keys.frontier}:nudges`, 'w\n0\nunit')
  await vi.waitFor(() => expect(nudged).toEqual(['unit']))
})

test('one that closes just when Redis is back leaves no rejection that nobody hears', async () => {
  await using used = new InUse()
  const { channel, proxy, listening } = await openChannel(used)
  const unheard: unknown[] = []
  const hear = (error: unknown) => unheard.push(error)
  process.on('unhandledRejection', hear)
  used.defer(() => process.off('unhandledRejection', hear))
  const subscribed = hangAtSubscribe(proxy)
  proxy.cutAll()
  await subscribed
  channel.close()
  await once(listening, 'end')
  await nextTurn()
  expect(unheard).toEqual([])
})

test('a cluster that loses a master while it is first asked to let hear is asked again', async () => {
  await using used = new InUse()
  // No node is given up meanwhile, and no connection made anew before the old one has ended.
  const cluster = used.use(await startCluster({ nodeTimeoutMs: 60_000 }))
  const nodes = cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
  const redis = newRedisClient({ Redis, Cluster }, { nodes }, { retryStrategy: () => 500 })
  const lost = Promise.withResolvers<void>()
  redis.on('error', () => {}).on('-node', () => lost.resolve())
  used.defer(() => redis.disconnect())
  const master = (await cluster.masterOf('{a}'))!
  await redis.ping()
  const duplicate = vi.spyOn(redis, 'duplicate')
  const channel = new CrawlChannel({ redis, keys })
  used.defer(() => channel.close())
  const opened = channel.open()
  await once(duplicate.mock.results[0]!.value as Redis, 'ready')
  // What is asked from now on is not answered.
  await Promise.all(cluster.nodes.map((node) => node.pause()))
  await master.kill()
  const answered = redis.get('{a}')
  await lost.promise
  await Promise.all(cluster.nodes.filter((node) => node !== master).map((node) => node.resume()))
  await master.restart()
  await opened
  expect(await answered).toBeNull()
})

test('who has nothing to do is heard, with how many requests it wants and whether it has less than its share, of the shards that it means', async () => {
  await using used = new InUse()
  const { channel } = await openChannel(used)
  const heard: string[] = []
  const shards = [0, 1, 2].map((n) => channel.ofShard(crawlRedisKeys({ spider: `talk-${n}`, crawlId: null })))
  for (const [n, shard] of [channel, ...shards].entries())
    shard.listen({
      onHungry: (worker, { wants, isBelowShare }) => heard.push(`${n} ${worker} ${wants} ${isBelowShare}`),
    })
  channel.hungry('w1', { wants: 9, isBelowShare: true })
  channel.hungry('w2', { wants: 1, isBelowShare: false })
  shards[0]!.hungry('w3', { wants: 6, isBelowShare: false })
  shards[2]!.hungry('w3', { wants: 8, isBelowShare: true })
  await vi.waitFor(() =>
    expect(heard.toSorted()).toEqual(['0 w1 9 true', '0 w2 1 false', '1 w3 4 false', '3 w3 4 true']),
  )
})
