import type { Redis } from 'ioredis'
import { BucketScripts } from '../buckets/scripts/bucket-scripts.ts'
import { ShardScripts } from '../buckets/scripts/shard-scripts.ts'
import { RedisFailures } from '../failures/redis-failures.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { CrawlShards, HOME } from '../shards/crawl-shards.ts'

/** Emptying does not depend on it. */
const ANY_ORDER = 'priority'

/** Empties the shards of a crawl's last run that this run does not have, as it was begun with another number of them. */
export async function clearFormerShards(redis: Redis, home: CrawlRedisKeys, count: number): Promise<void> {
  const before = await redis.hget(home.record, 'shardsBefore')
  if (before === null) return
  const former = new CrawlShards(home, Number(before))
  const now = new CrawlShards(home, count)
  for (const name of former.names) {
    if (now.names.includes(name)) continue
    const keys = former.keysOf(name)
    await new BucketScripts({ redis, keys, order: ANY_ORDER, isShard: true }).clear()
    await new ShardScripts({ redis, keys, order: ANY_ORDER }).clear(former.names)
    await new RedisFailures({ redis, keys }).clear()
    await redis.unlink(keys.record)
  }
  for (const name of [...now.names, HOME])
    await new ShardScripts({ redis, keys: now.keysOf(name), order: ANY_ORDER }).clear(former.names)
  await redis.hdel(home.record, 'shardsBefore')
}
