/**
 * A worker process for the tests. Reads a line for each filter: which it is, whereupon it opens it, asks about pages as soon as both
 * processes have opened it, and prints which were new.
 */
import { createInterface } from 'node:readline'
import { Request } from '@webloom/core'
import { Redis } from 'ioredis'
import { RedisBloomDupeFilter } from '../src/bloom/redis-bloom-dupefilter.ts'
import { RedisHostBloomDupeFilter } from '../src/bloom/redis-host-bloom-dupefilter.ts'
import { CountingBloomDupeFilter } from '../src/counting/counting-bloom-dupefilter.ts'
import type { RedisDupeFilter } from '../src/redis/redis-dupefilter.ts'
import { RedisKeyDupeFilter } from '../src/redis/redis-key-dupefilter.ts'
import { RedisSetDupeFilter } from '../src/redis/redis-set-dupefilter.ts'
import { SplittableBloomDupeFilter } from '../src/splittable/splittable-bloom-dupefilter.ts'
import type { Asked } from './asking-processes.ts'

const [url, asker] = process.argv.slice(2)
const redis = new Redis(url!)
const EXACT_ENOUGH = { capacity: 100_000, errorRate: 1e-9 }
const FILTERS: Record<string, (key: string) => RedisDupeFilter> = {
  'redis-set': (key) => new RedisSetDupeFilter({ redis, key }),
  'redis-key': (key) => new RedisKeyDupeFilter({ redis, key, ttlMs: 3_600_000 }),
  'redis-bloom': (key) => new RedisBloomDupeFilter({ redis, key, ...EXACT_ENOUGH }),
  'redis-bloom by host': (key) => new RedisHostBloomDupeFilter({ redis, key, ...EXACT_ENOUGH }),
  'counting-bloom': (key) => new CountingBloomDupeFilter({ redis, key, ...EXACT_ENOUGH }),
  // In leaves for about 70 pages each, which are split while it is asked.
  'splittable-bloom': (key) => new SplittableBloomDupeFilter({ redis, key, leafBit: 12, errorRate: 1e-9 }),
}

const BATCH = 100
/** Few: the other process is to have its turn in between. */
const AT_ONCE = 3

async function freshOf(filter: RedisDupeFilter, pages: number): Promise<number[]> {
  const fresh: number[] = []
  const asking: Promise<void>[] = []
  const batches = pages / BATCH
  for (let nth = 0; nth < batches; nth++) {
    // Each in an order of its own: of two that follow one another, one would be told of nothing new.
    const from = BATCH * (asker === 'a' ? nth : (7 * nth) % batches)
    const numbers = Array.from({ length: BATCH }, (_, n) => from + n)
    const requests = numbers.map((n) => new Request(`https://example.com/${n}`))
    const ask = async () => {
      const seen = await filter.requestsSeen(requests, `${asker}/${from}`)
      await filter.settled(`${asker}/${from}`)
      for (const [n, isSeen] of seen.entries()) if (!isSeen) fresh.push(from + n)
    }
    asking.push(ask())
    if (asking.length % AT_ONCE === 0) await Promise.all(asking)
  }
  await Promise.all(asking)
  return fresh
}

/** Looks without a pause, so that both begin at once. */
async function bothAreThere(key: string): Promise<void> {
  const there = `${key}:there`
  await redis.incr(there)
  while ((await redis.get(there)) !== '2');
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
for (let line = await lines.next(); !line.done; line = await lines.next()) {
  const { key, kind, pages } = JSON.parse(line.value) as Asked
  const filter = FILTERS[kind]!(key)
  await filter.open()
  await bothAreThere(key)
  const fresh = await freshOf(filter, pages)
  await filter.close()
  console.log(JSON.stringify(fresh))
}
redis.disconnect()
