import type { FailureLedger } from '@webloom/core'
import type { Redis } from 'ioredis'
import { RedisFailures } from '../failures/redis-failures.ts'
import { ShardedFailures } from '../failures/sharded-failures.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { readShards } from '../shards/crawl-shards.ts'

/** The ledger of failures of a crawl, of all its shards, to be read and removed from. */
export async function readLedger(redis: Redis, home: CrawlRedisKeys): Promise<FailureLedger> {
  const { queues } = await readShards(redis, home)
  const ledgers = queues.map((keys) => new RedisFailures({ redis, keys }))
  return ledgers.length === 1 ? ledgers[0]! : new ShardedFailures(ledgers)
}
