/** A run of random operations on Redis and model, replayed by its seed. */

import type { QueueOrder } from '@webloom/core'
import type { Redis } from 'ioredis'
import { crawlRedisKeys } from '../../src/redis/crawl-redis-keys.ts'
import { SeededChance } from '../seeded-chance.ts'
import { RandomShards } from './random-shards.ts'
import { RandomWorker } from './random-worker.ts'
import { RedisAndModel } from './redis-and-model.ts'

const WORKERS = 3
const ORDERS: readonly QueueOrder[] = ['priority', 'priority', 'fifo', 'lifo']
const COMPARED_EVERY = 20

/** Rejects with seed, operation and what differs. */
export async function compareRun(
  redis: Redis,
  seed: number,
  operations: number,
  { isShard = false }: { isShard?: boolean } = {},
): Promise<void> {
  await redis.flushall()
  const chance = new SeededChance(seed)
  const order = chance.of(ORDERS)
  let operation = 0
  const where = () => `seed ${seed}, operation ${operation}, order ${order}`
  const both = new RedisAndModel({
    redis,
    keys: crawlRedisKeys({ spider: 'compared', crawlId: null }),
    order,
    where,
    isShard,
  })
  const others = new RandomShards(both, chance)
  const workers = Array.from({ length: WORKERS }, (_, n) => new RandomWorker(`w${n}`, both, chance))
  for (; operation < operations; operation++) {
    both.nowMs += chance.is(0.02) ? chance.below(4000) : chance.below(40)
    both.model.present = 1 + chance.below(WORKERS)
    if (isShard && chance.is(0.2)) await others.act()
    else await chance.of(workers).act()
    if (operation % COMPARED_EVERY === 0) await both.compare()
    const event = chance.next()
    if (event < 0.002) await both.takeSnapshot()
    else if (event < 0.004) await both.goBack()
    if (event > 0.997) both.model.replid = `history${operation}`
  }
  await both.compare()
}
