import type { Redis } from 'ioredis'
import { BucketScripts } from '../buckets/scripts/bucket-scripts.ts'
import { ShardScripts } from '../buckets/scripts/shard-scripts.ts'
import { RedisFailures } from '../failures/redis-failures.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { CrawlShards, HOME, readFormerShards } from '../shards/crawl-shards.ts'

/** Emptying does not depend on it. */
const ANY_ORDER = 'priority'

/** Empties the shards of a crawl's last runs that this run does not have, as they were begun with other numbers of them. */
export async function clearFormerShards(redis: Redis, home: CrawlRedisKeys, count: number): Promise<void> {
  const now = new CrawlShards(home, count)
  for (const former of await readFormerShards(redis, home)) await clearThose(redis, former, now)
  await redis.hdel(home.record, 'shardsBefore')
}

async function clearThose(redis: Redis, former: CrawlShards, now: CrawlShards): Promise<void> {
  const kept = new Set(now.queues.map(({ base }) => base))
  for (const keys of former.queues) {
    if (kept.has(keys.base)) continue
    await new BucketScripts({ redis, keys, order: ANY_ORDER, isShard: true }).clear()
    await new ShardScripts({ redis, keys, order: ANY_ORDER }).clear(former.names)
    await new RedisFailures({ redis, keys }).clear()
    await redis.unlink(keys.record)
  }
  for (const name of [...now.names, HOME])
    await new ShardScripts({ redis, keys: now.keysOf(name), order: ANY_ORDER }).clear(former.names)
}
