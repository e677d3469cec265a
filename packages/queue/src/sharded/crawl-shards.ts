import type { CrawlName } from '@webloom/core'
import { type CrawlRedisKeys, crawlRedisKeys, shardRedisKeys } from '../redis/crawl-redis-keys.ts'
import { addressIn } from '../shards/outbox-entry.ts'
import { shardName, shardOf } from '../shards/shard-of.ts'

/** The home as a sender: no shard has such a name. */
export const HOME = 'home'

/** The shards of a crawl, and where each has its keys. */
export class CrawlShards {
  readonly count: number
  readonly names: readonly string[]
  readonly home: CrawlRedisKeys
  readonly #keys: ReadonlyMap<string, CrawlRedisKeys>

  constructor(name: CrawlName, count: number) {
    this.count = count
    this.names = Array.from({ length: count }, (_, n) => shardName(n, count))
    this.home = crawlRedisKeys(name)
    this.#keys = new Map(this.names.map((shard) => [shard, shardRedisKeys(name, shard)]))
  }

  keysOf(shard: string): CrawlRedisKeys {
    return shard === HOME ? this.home : this.#keys.get(shard)!
  }

  shardOf(slot: string): string {
    return shardOf(slot, this.count)
  }

  /** Returns what says where a slot's requests go, for one of the shards or the home. */
  addressing(from: string): (slot: string, bucket: string, asker: string) => string {
    return (slot, bucket, asker) => {
      const shard = this.shardOf(slot)
      return shard === from ? bucket : addressIn(shard, asker, bucket)
    }
  }
}
