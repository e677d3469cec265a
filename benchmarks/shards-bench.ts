/**
 * What a page costs the queue's servers when a crawl's queue is shared out over a Redis Cluster (QUEUE_SHARDS), beside one plain Redis.
 *
 *     node_modules/.bin/node --conditions=webloom-source benchmarks/shards-bench.ts [--pages 30000] [--rounds 3] [--hosts 3000] [--masters 3] [--shards 6,12,24] [--concurrency 64] [--queued 20000] [--warm-up 2000] [--aof] [--counts]
 *
 * Each page leads to one new page, of a host that chance chooses; so with three masters most links go to another one, by an outbox. One worker, in
 * this process; a fetch takes 0 to 5 ms, and its place is free when it ends, as in the engine. Servers are processes of their own without replicas, their time that of their
 * main threads, cluster bus included. All of them keep an append-only file with `--aof`, and none without it: one that does costs a tenth more.
 * Hosts come to masters by chance: of 600 one of three has a ninth more than its share, of 3000 a thirtieth, and a crawl that needs three masters has many more.
 * What is measured is a crawl under way: the first requests have left the home's outbox, and some pages are done.
 * In each round one plain Redis and each number of shards are measured in turn. `--counts` also says what the busiest server did for 1000 pages: those
 * figures are the same on a busy machine.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Cluster, Redis } from 'ioredis'
import {
  mastersOf,
  newRedisClient,
  type QueuedRequest,
  type RequestQueue,
} from '../packages/core/src/index.ts'
import { Request } from '../packages/core/src/requests/request.ts'
import { BucketQueue } from '../packages/queue/src/buckets/bucket-queue.ts'
import { CrawlChannel } from '../packages/queue/src/members/crawl-channel.ts'
import { type CrawlRedisKeys, crawlRedisKeys } from '../packages/queue/src/redis/crawl-redis-keys.ts'
import { ShardedQueue } from '../packages/queue/src/sharded/sharded-queue.ts'
import { startCluster } from '../packages/testkit/src/redis/redis-cluster.ts'
import { startRedis } from '../packages/testkit/src/redis/redis-server.ts'

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '30000' },
    rounds: { type: 'string', default: '3' },
    hosts: { type: 'string', default: '3000' },
    masters: { type: 'string', default: '3' },
    shards: { type: 'string', default: '6,12,24' },
    concurrency: { type: 'string', default: '64' },
    queued: { type: 'string', default: '20000' },
    'warm-up': { type: 'string', default: '2000' },
    aof: { type: 'boolean', default: false },
    counts: { type: 'boolean', default: false },
  },
})
const [PAGES, ROUNDS, HOSTS] = [Number(values.pages), Number(values.rounds), Number(values.hosts)]
const [MASTERS, CONCURRENCY] = [Number(values.masters), Number(values.concurrency)]
const SHARDS = values.shards.split(',').map(Number)
/** At the beginning: with a few a host, turns would end and begin all the time. */
const FIRST = Number(values.queued)
const WARM_UP = Number(values['warm-up'])
const PACE = { delayMs: 0, concurrency: 0, randomize: false }
/** As the assembly makes them. */
const BEHAVIOUR = { maxRetriesPerRequest: null, lazyConnect: true }

interface Measured {
  /** Of the main thread, by server, the busiest first. */
  readonly us: readonly number[]
  readonly perSecond: number
  readonly workerUs: number
}

let crawls = 0
const keysOfNext = () => crawlRedisKeys({ spider: `bench${++crawls}`, crawlId: null })
const connections: Redis[] = []

await using plain = await startRedis(values.aof ? { appendonly: 'everysec' } : {})
await using cluster = await startCluster({ masters: MASTERS })
// The testkit's nodes have one.
if (!values.aof) for (const node of cluster.nodes) await node.command('CONFIG', 'SET', 'appendonly', 'no')
const nodes = cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
const plainRedis = await connected({ host: '127.0.0.1', port: plain.port })
const clusterRedis = await connected({ nodes })

const measured = new Map<number, Measured[]>()
for (let round = 0; round < ROUNDS; round++)
  for (const shards of [1, ...SHARDS]) {
    const one =
      shards === 1 ? await measure(plainRedis, oneQueue) : await measure(clusterRedis, ofShards(shards))
    measured.set(shards, [...(measured.get(shards) ?? []), one])
  }
report()
for (const redis of connections) redis.disconnect()

async function connected(options: Parameters<typeof newRedisClient>[1]): Promise<Redis> {
  const redis = newRedisClient({ Redis, Cluster }, options, BEHAVIOUR) as Redis
  await redis.connect()
  connections.push(redis)
  return redis
}

async function oneQueue(redis: Redis, keys: CrawlRedisKeys): Promise<RequestQueue> {
  const queue = new BucketQueue({
    redis,
    keys,
    workerId: 'bench:1:x',
    hosts: { pace: () => PACE },
  })
  await queue.open()
  return queue
}

function ofShards(shards: number): typeof oneQueue {
  return async (redis, keys) => {
    const channel = new CrawlChannel({ redis, keys })
    await channel.open()
    const given = { redis, keys, channel, shards, workerId: 'bench:1:x' }
    const queue = new ShardedQueue({ ...given, hosts: { pace: () => PACE } })
    await queue.open()
    return Object.assign(queue, {
      close: async () => {
        await ShardedQueue.prototype.close.call(queue)
        channel.close()
      },
    })
  }
}

async function measure(redis: Redis, open: typeof oneQueue): Promise<Measured> {
  const keys = keysOfNext()
  const queue = await open(redis, keys)
  let next = FIRST
  const first = Array.from({ length: FIRST }, (_, n) => page(n))
  for (let from = 0; from < FIRST; from += 500)
    await queue.push(first.slice(from, from + 500), `first${from}`)
  // Until what was pushed has come to its shards.
  while ((await queue.counts()).waiting < FIRST) await sleep(50)
  // Until the home has deleted what it kept of them.
  while (Number(await redis.hget(keys.frontierCounts, 'outbox')) > 0) await sleep(50)
  const childrenOf = () => [page(next++)]
  await crawl(queue, WARM_UP, childrenOf)
  const servers = mastersOf(redis)
  for (const server of servers) await server.config('RESETSTAT')
  const [before, cpuBefore, begunAt] = [await spent(servers), process.cpuUsage(), performance.now()]
  await crawl(queue, PAGES, childrenOf)
  const tookMs = performance.now() - begunAt
  const { user, system } = process.cpuUsage(cpuBefore)
  const after = await spent(servers)
  if (values.counts) for (const server of servers) console.log(await countsOf(server))
  await queue.close()
  return {
    us: after.map((us, n) => (us - before[n]!) / PAGES).sort((a, b) => b - a),
    perSecond: (PAGES * 1000) / tookMs,
    workerUs: (user + system) / PAGES,
  }
}

async function crawl(queue: RequestQueue, pages: number, childrenOf: () => QueuedRequest[]): Promise<void> {
  let [begun, done, busy] = [0, 0, 0]
  const ended = Promise.withResolvers<void>()
  let wake: (() => void) | undefined
  if (pages === 0) return
  while (begun < pages) {
    if (busy >= CONCURRENCY) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      continue
    }
    for (const lease of await queue.lease(Math.min(CONCURRENCY - busy, pages - begun))) {
      begun++
      busy++
      lease.started()
      void sleep(Math.random() * 5)
        .then(() => {
          busy--
          wake?.()
          return queue.commit(lease, { children: childrenOf() })
        })
        .then(() => {
          if (++done === pages) ended.resolve()
        })
    }
  }
  await ended.promise
}

/** The host of a page has nothing to do with that of the page before. */
function page(n: number): QueuedRequest {
  const host = Math.imul(n, 2_654_435_761) >>> 0
  const url = `https://host-${host % HOSTS}.example/some/longer/path/to/a/page?number=${n}&of=them`
  return {
    id: n.toString(16).padStart(40, '0'),
    request: new Request(url, {
      callback: 'parseListing',
      meta: { depth: 3, from: 'a listing of some kind' },
    }),
  }
}

/** Microseconds of each server's main thread so far. */
function spent(servers: readonly Redis[]): Promise<number[]> {
  return Promise.all(
    servers.map(async (server) => {
      const info = await server.info('cpu')
      const seconds = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)![1])
      return 1e6 * (seconds('used_cpu_user_main_thread') + seconds('used_cpu_sys_main_thread'))
    }),
  )
}

/** What a server has done for 1000 pages: how often it read from a connection, and its commands, those in scripts, too. */
async function countsOf(server: Redis): Promise<string> {
  const info = `${await server.info('stats')}${await server.info('commandstats')}`
  const rate = (count: string | undefined) =>
    ((1000 * Number(count)) / PAGES).toFixed(count === undefined ? 0 : 1)
  const stat = (name: string) => `${name} ${rate(new RegExp(`${name}:(\\d+)`).exec(info)![1])}`
  const calls = [...info.matchAll(/cmdstat_(\S+):calls=(\d+)/g)]
  calls.sort(([, , a], [, , b]) => Number(b) - Number(a))
  const stats = ['total_reads_processed', 'total_net_input_bytes', 'total_net_output_bytes'].map(stat)
  return [...stats, ...calls.map(([, name, count]) => `${name} ${rate(count)}`)].join(', ')
}

function report(): void {
  const busiest = (shards: number) => median(measured.get(shards)!.map(({ us }) => us[0]!))
  console.log(
    '| queue | busiest server, µs a page | × one Redis | mean of the servers, × one Redis | all servers | worker, µs a page | pages/s |',
  )
  console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: |')
  for (const [shards, rounds] of measured) {
    const name = shards === 1 ? 'one Redis' : `${shards} shards, ${MASTERS} masters`
    const all = median(rounds.map(({ us }) => us.reduce((a, b) => a + b)))
    const worker = median(rounds.map(({ workerUs }) => workerUs))
    const ratios = [busiest(shards), all / (shards === 1 ? 1 : MASTERS)].map((us) =>
      (us / busiest(1)).toFixed(2),
    )
    const figures = [busiest(shards).toFixed(1), ...ratios, all.toFixed(1)]
    const perSecond = median(rounds.map((round) => round.perSecond)).toFixed(0)
    console.log(`| ${[name, ...figures, worker.toFixed(0), perSecond].join(' | ')} |`)
  }
}

function median(numbers: number[]): number {
  return numbers.sort((a, b) => a - b)[numbers.length >> 1]!
}
