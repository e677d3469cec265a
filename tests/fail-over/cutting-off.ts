/** A crawl in whose middle a master goes: killed, stopped, cut off with a worker on its side, or that of the filter alone. */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  InUse,
  MachineLag,
  type RedisServer,
  startCluster,
  startFakeWebProcess,
  startSentinels,
} from '@webloom/testkit'
import { expect } from 'vitest'
import { crawlRedisKeys } from '../../packages/queue/src/redis/crawl-redis-keys.ts'
import { CrawlShards } from '../../packages/queue/src/shards/crawl-shards.ts'
import { ClusterFolder, expectComplete, followingSpider, freshCrawlId } from '../cluster/cluster-crawl.ts'
import type { Running } from '../projects/command-hosts.ts'
import { CONCURRENCY, expectGoesOn, mayRepeat } from './failing-over.ts'
import { cutOff, heal, SIDE } from './namespace.ts'

export type Topology = 'sentinels' | 'cluster'
export type Fault = 'killed' | 'stopped' | 'cut off' | 'cut off for long' | 'the filter alone'

/** QUEUE_MODE; or, on a cluster, turns over several shards, of which one loses its master. */
export type CutMode = 'turns' | 'job' | 'shards'

/** A Redis with spares, as one that loses a master. */
export interface Spared {
  readonly url: string
  masterOf(key: string): Promise<RedisServer>
  /** Resolves when another one than the master takes writes of the key. */
  untilOther(key: string, master: RedisServer): Promise<unknown>
  /** Of all servers and Sentinels but that master, with bus ports. */
  portsWithout(master: RedisServer): Promise<number[]>
  portsOf(master: RedisServer): Promise<number[]>
  stop(): Promise<void>
}

export async function startSpared(topology: Topology, goneAfterMs: number): Promise<Spared> {
  if (topology === 'sentinels') {
    const redis = await startSentinels({ downAfterMs: goneAfterMs })
    return {
      url: redis.url,
      masterOf: () => redis.untilWritable(),
      untilOther: (_key, master) => redis.untilWritable(master),
      portsWithout: async (master) =>
        [...redis.servers, ...redis.sentinels].map(({ port }) => port).filter((port) => port !== master.port),
      portsOf: async ({ port }) => [port],
      stop: () => redis.stop(),
    }
  }
  const redis = await startCluster({ replicas: 1, nodeTimeoutMs: goneAfterMs })
  const portsOf = async (node: RedisServer) => {
    const [, bus] = (await node.command('CONFIG', 'GET', 'cluster-port')) as string[]
    return [node.port, Number(bus)]
  }
  return {
    url: redis.url,
    masterOf: async (key) => (await redis.masterOf(key))!,
    untilOther: (key, master) => redis.untilWritable(`${key}:testkit`, master),
    portsWithout: async (master) =>
      (await Promise.all(redis.nodes.filter((node) => node !== master).map(portsOf))).flat(),
    portsOf,
    stop: () => redis.stop(),
  }
}

export interface Cut {
  readonly topology: Topology
  readonly mode: CutMode
  /** DUPEFILTER_CLASS. */
  readonly filter: string
  readonly fault: Fault
  readonly seed: number
  /** But for shards, whose hosts are many. */
  readonly pagesPerHost?: number
}

const SHARDS = 6

/** What is cut off or stopped comes back so long after pages are fetched again. */
const BACK_AFTER_MS = 6000
/** How long a master is silent when it counts as gone: of `cut off for long` longer than anything is kept by the clock alone. */
const goneAfterMs = (fault: Fault) => (fault === 'cut off for long' ? 9000 : 3000)
const isCutOff = (fault: Fault) => fault === 'cut off' || fault === 'cut off for long'

export async function cutsOff({
  topology,
  mode,
  filter,
  fault,
  seed,
  pagesPerHost = 150,
}: Cut): Promise<void> {
  await using used = new InUse()
  const begun = async () => {
    const redis = await startSpared(topology, goneAfterMs(fault))
    used.use({ [Symbol.asyncDispose]: () => redis.stop() })
    return redis
  }
  const redis = await begun()
  // The slots of one cluster are on several masters as they are.
  const filterRedis = fault === 'the filter alone' && topology === 'sentinels' ? await begun() : redis
  const web = used.use(
    await startFakeWebProcess({
      ...(mode === 'shards' ? { hosts: 24, pagesPerHost: 25 } : { hosts: 4, pagesPerHost }),
      ...{ seed, crossHostLinks: 0.2, latencyMs: [0, 40] },
      // Some pages go back just when nobody takes them.
      ...{ flaky: 0.1, flakyTimes: 1 },
    }),
  )
  const { crawlId, key, other } = await placed(redis, filterRedis, { fault, mode, filter, seed })
  const spider = `import { argv, setgid } from 'node:process'
if (argv.includes('items-a.jsonl') && ${isCutOff(fault)}) setgid(${SIDE})\n`
  const settings = {
    REDIS_URL: redis.url,
    DUPEFILTER_REDIS_URL: [filterRedis.url],
    CRAWL_ID: crawlId,
    ...(mode === 'shards' ? { QUEUE_SHARDS: SHARDS } : { QUEUE_MODE: mode }),
    DUPEFILTER_CLASS: filter,
    DUPEFILTER_TTL: 3600,
    CONCURRENT_REQUESTS: CONCURRENCY,
    LOG_FORMAT: 'json',
  }
  const folder = used.use(await ClusterFolder.of(web, settings, spider + followingSpider(web)))
  if (isCutOff(fault)) used.use({ [Symbol.asyncDispose]: async () => heal() })
  const workers: Running[] = ['a', 'b'].map((name) => folder.worker(name))
  await web.waitForHits(Math.round((0.05 + ((seed * 0.37) % 0.8)) * web.linked().size), 120_000)
  const master = await other.masterOf(key)
  const goneAtMs = performance.now()
  await fail(fault, master, other)
  await other.untilOther(key, master)
  const servesAtMs = performance.now()
  using lag = new MachineLag()
  // Waits: the fault itself has a length.
  const back = sleep(BACK_AFTER_MS).then(async () => {
    if (isCutOff(fault)) heal()
    if (fault === 'stopped') await master.resume()
  })
  const ended = await Promise.all(workers.map(({ exited }) => exited))
  await back
  const logs = ended.map(({ stderr }) => stderr).join('\n')
  for (const { code } of ended) expect(code, logs).toBe(0)
  const hits = await web.hits()
  expectGoesOn(hits, { servesAtMs, lag, logs })
  await expectComplete(web, folder, { more: mayRepeat(hits, { goneAtMs, untilMs: servesAtMs }, web) })
}

export async function fail(fault: Fault, master: RedisServer, redis: Spared): Promise<void> {
  if (fault === 'stopped') return master.pause()
  if (!isCutOff(fault)) return master.kill()
  cutOff(master, await redis.portsOf(master), await redis.portsWithout(master))
}

/** A CRAWL_ID whose filter has a master without the queue, where it is to go alone; and the key whose master goes. */
async function placed(
  redis: Spared,
  filterRedis: Spared,
  { fault, mode, filter, seed }: Pick<Cut, 'fault' | 'mode' | 'filter' | 'seed'>,
): Promise<{ crawlId: string; key: string; other: Spared }> {
  for (;;) {
    const crawlId = freshCrawlId(`cut-off-${mode}`)
    const keys = crawlRedisKeys({ spider: 'pages', crawlId })
    const queueKey =
      mode === 'shards' ? new CrawlShards(keys, SHARDS).queues[seed % SHARDS]!.record : keys.record
    if (fault !== 'the filter alone') return { crawlId, key: queueKey, other: redis }
    const key = `pages:${crawlId}:${filter === 'redis-bloom' ? 'bloomfilter' : 'dupefilter'}`
    const isApart = filterRedis !== redis || (await redis.masterOf(key)) !== (await redis.masterOf(queueKey))
    if (isApart) return { crawlId, key, other: filterRedis }
  }
}
