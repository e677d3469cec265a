/** A worker process for the tests: opens a filter, waits for a line, asks about pages, prints which were new. */
import { once } from 'node:events'
import { Request } from '@webloom/core'
import { Redis } from 'ioredis'
import { RedisBloomDupeFilter } from '../src/bloom/redis-bloom-dupefilter.ts'
import { RedisHostBloomDupeFilter } from '../src/bloom/redis-host-bloom-dupefilter.ts'
import { CountingBloomDupeFilter } from '../src/counting/counting-bloom-dupefilter.ts'
import type { RedisDupeFilter } from '../src/redis/redis-dupefilter.ts'
import { RedisKeyDupeFilter } from '../src/redis/redis-key-dupefilter.ts'
import { RedisSetDupeFilter } from '../src/redis/redis-set-dupefilter.ts'
import { SplittableBloomDupeFilter } from '../src/splittable/splittable-bloom-dupefilter.ts'

const { url, key, kind, asker, pages } = JSON.parse(process.argv[2]!) as Record<string, string>
const redis = new Redis(url!)
const EXACT_ENOUGH = { capacity: 100_000, errorRate: 1e-9 }
const all = { redis, key: key! }
const FILTERS: Record<string, () => RedisDupeFilter> = {
  'redis-set': () => new RedisSetDupeFilter(all),
  'redis-key': () => new RedisKeyDupeFilter({ ...all, ttlMs: 3_600_000 }),
  'redis-bloom': () => new RedisBloomDupeFilter({ ...all, ...EXACT_ENOUGH }),
  'redis-bloom by host': () => new RedisHostBloomDupeFilter({ ...all, ...EXACT_ENOUGH }),
  'counting-bloom': () => new CountingBloomDupeFilter({ ...all, ...EXACT_ENOUGH }),
  // In leaves for about 70 pages each, which are split while it is asked.
  'splittable-bloom': () => new SplittableBloomDupeFilter({ ...all, leafBit: 12, errorRate: 1e-9 }),
}
const filter = FILTERS[kind!]!()
await filter.open()
console.log('ready')
await once(process.stdin, 'data')

const BATCH = 100
const fresh: number[] = []
const asking: Promise<void>[] = []
for (let from = 0; from < Number(pages); from += BATCH) {
  const numbers = Array.from({ length: BATCH }, (_, n) => from + n)
  const requests = numbers.map((n) => new Request(`https://example.com/${n}`))
  const ask = async () => {
    const seen = await filter.requestsSeen(requests, `${asker}/${from}`)
    await filter.settled(`${asker}/${from}`)
    for (const [n, isSeen] of seen.entries()) if (!isSeen) fresh.push(from + n)
  }
  asking.push(ask())
  if (asking.length % 10 === 0) await Promise.all(asking)
}
await Promise.all(asking)
await filter.close()
redis.disconnect()
console.log(JSON.stringify(fresh))
process.stdin.destroy()
