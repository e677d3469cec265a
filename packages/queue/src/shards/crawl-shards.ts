import type { Redis } from 'ioredis'
import { SHARDED_FORMAT } from '../crawl/crawl-format.ts'
import { BUCKETS, bucketOf, bucketsOfShard } from '../politeness/bucket-of.ts'
import { type CrawlRedisKeys, shardRedisKeys } from '../redis/crawl-redis-keys.ts'
import { addressIn } from './outbox-entry.ts'
import { shardName, shardOf } from './shard-of.ts'
import { shardTag } from './shard-tag.ts'

/** The home as a sender: no shard has such a name. */
export const HOME = 'home'

/** The shards of a crawl, and where each has its keys. With one shard the home is all there is. */
export class CrawlShards {
  readonly count: number
  /** None with one shard. */
  readonly names: readonly string[]
  readonly home: CrawlRedisKeys
  /** How many buckets each has. */
  buckets: number
  readonly #keys: ReadonlyMap<string, CrawlRedisKeys>

  constructor(home: CrawlRedisKeys, count: number) {
    this.count = count
    this.names = count > 1 ? Array.from({ length: count }, (_, n) => shardName(n, count)) : []
    this.home = home
    this.buckets = bucketsOfShard(count)
    this.#keys = new Map(
      this.names.map((shard) => [shard, shardRedisKeys(home, shardTag(home.queueName, shard, count))]),
    )
  }

  /** Where requests may lie: the shards, then the home, which has an outbox; or the home alone. */
  get parts(): readonly CrawlRedisKeys[] {
    return [...this.#keys.values(), this.home]
  }

  /** Where lines, failures and quarantine lie. */
  get queues(): readonly CrawlRedisKeys[] {
    return this.count > 1 ? [...this.#keys.values()] : [this.home]
  }

  keysOf(shard: string): CrawlRedisKeys {
    return shard === HOME ? this.home : this.#keys.get(shard)!
  }

  shardOf(slot: string): string {
    return shardOf(slot, this.count)
  }

  /** Takes what the record says of the crawl's form: in the one before this each shard had as many buckets as a crawl of one has. */
  takeForm(format: string | null | undefined): void {
    if (this.count > 1 && format && Number(format) < SHARDED_FORMAT) this.buckets = BUCKETS
  }

  /** Returns where the line of a slot lies. */
  ofSlot(slot: string): CrawlRedisKeys {
    return this.count > 1 ? this.keysOf(this.shardOf(slot)) : this.home
  }

  /** Returns what says where a slot's requests go, for one of the shards or the home. */
  addressing(from: string): (slot: string, asker: string) => string {
    return (slot, asker) => {
      const [shard, bucket] = [this.shardOf(slot), bucketOf(slot, this.buckets)]
      return shard === from ? bucket : addressIn(shard, asker, bucket)
    }
  }
}

/** The shards of the crawl that is there, as its record says: whoever looks at a crawl may have other settings than its workers. */
export async function readShards(redis: Redis, home: CrawlRedisKeys): Promise<CrawlShards> {
  const [count, format] = await redis.hmget(home.record, 'shards', 'format')
  const shards = new CrawlShards(home, shardCount(count))
  shards.takeForm(format)
  return shards
}

/** The shards of runs before, each with another number of them, that are still to be emptied. */
export async function readFormerShards(redis: Redis, home: CrawlRedisKeys): Promise<CrawlShards[]> {
  const before = await redis.hget(home.record, 'shardsBefore')
  return (before?.split(' ') ?? []).map((count) => new CrawlShards(home, Number(count)))
}

/** @param field of the record; one shard has none */
export function shardCount(field: string | null | undefined): number {
  return Math.max(1, Number(field ?? 1))
}
