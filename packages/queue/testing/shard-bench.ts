import { newRedisClient } from '@webloom/core'
import type { Deviation } from '@webloom/core/contract'
import { type RedisCluster, startCluster } from '@webloom/testkit'
import { Cluster, Redis } from 'ioredis'
import { CrawlChannel } from '../src/members/crawl-channel.ts'
import { crawlRedisKeys } from '../src/redis/crawl-redis-keys.ts'
import { ShardedQueue, type ShardedQueueOptions } from '../src/sharded/sharded-queue.ts'

/** Queues of crawls over shards that lie on the three masters of a real Redis Cluster. */
export class ShardBench {
  readonly #shards: number
  #cluster: RedisCluster | undefined
  #redis: Redis | undefined
  #crawls = 0

  constructor(shards: number) {
    this.#shards = shards
  }

  async start(): Promise<void> {
    this.#cluster = await startCluster()
    const nodes = this.#cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
    const behaviour = { retryStrategy: () => 50, maxRetriesPerRequest: null }
    this.#redis = newRedisClient({ Redis, Cluster }, { nodes, socketTimeout: 4000 }, behaviour) as Redis
    this.#redis.on('error', () => {})
  }

  async stop(): Promise<void> {
    this.#redis?.disconnect()
    await this.#cluster?.stop()
  }

  /** From now on all masters say NOREPLICAS to writes, or take them again. */
  async refuseWrites(isRefused: boolean): Promise<void> {
    const replicas = isRefused ? '1' : '0'
    await Promise.all(
      this.#cluster!.nodes.map((node) => node.command('CONFIG', 'SET', 'min-replicas-to-write', replicas)),
    )
  }

  /** The keys on all masters whose names end so. */
  async keysEnding(end: string): Promise<string[]> {
    const of = this.#cluster!.nodes.map((node) => node.command('KEYS', `*${end}`))
    return (await Promise.all(of)).flat() as string[]
  }

  /** A worker's queue of a crawl of its own; `queue.open()` opens it. */
  async queue({
    delayMs = 0,
    concurrency = 0,
    ...options
  }: Pick<ShardedQueueOptions, 'order' | 'givingUp' | 'times'> & { delayMs?: number; concurrency?: number }) {
    const redis = this.#redis!
    const keys = crawlRedisKeys({ spider: `crawl${++this.#crawls}`, crawlId: null })
    const channel = new CrawlChannel({ redis, keys })
    const hosts = { pace: () => ({ delayMs, concurrency, randomize: false }) }
    const queue = new ShardedQueue({
      ...{ redis, keys, channel, workerId: 'w', shards: this.#shards, hosts },
      ...options,
    })
    await channel.open()
    return {
      queue,
      channel,
      dispose: async () => {
        await queue.close()
        channel.close()
      },
    }
  }
}

const IN_ITS_SHARD = 'between shards no priority counts, and no turn: only within one'
const ON_ITS_WAY =
  'what is on its way from one shard to another is counted in neither: docs/decisions/shards.md'

/** Where a queue over shards differs from others. */
export const QUEUE_DEVIATIONS: readonly Deviation[] = [
  { test: 'what is pushed is leased, counted in each state, and gone when committed', reason: ON_ITS_WAY },
  { test: 'commit queues the children in the same step', reason: ON_ITS_WAY },
  { test: 'what is in doubt is taken once for all, and ended: queued, or gone', reason: ON_ITS_WAY },
  {
    test: 'an urgent request of one host goes before ordinary ones of others',
    reason: IN_ITS_SHARD,
    isByChance: true,
  },
  { test: 'hosts take turns', reason: IN_ITS_SHARD, isByChance: true },
]

export const LEDGER_DEVIATIONS: readonly Deviation[] = [
  {
    test: 'past the most, the oldest of the most common signature go, and are counted',
    reason: 'each shard keeps its part of FAILED_MAX: failures of one host have no more',
  },
]
