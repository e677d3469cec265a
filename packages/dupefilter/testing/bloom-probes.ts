import { hash } from 'node:crypto'
import { Request } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { RedisBloomDupeFilter } from '../src/bloom/redis-bloom-dupefilter.ts'
import { nativeOffsets } from '../src/bloom-sizing/bloom-offsets.ts'

interface Probes {
  readonly redis: Redis
  readonly key: string
  readonly filter: RedisBloomDupeFilter
  readonly count: number
  readonly probes: number
}

/** Fills a filter of one string with `count` requests, and asks its bits for `probes` that were never in it. */
export async function measuredError({ redis, key, filter, count, probes }: Probes): Promise<number> {
  for (let from = 0; from < count; from += 500) {
    const size = Math.min(500, count - from)
    const requests = Array.from({ length: size }, (_, n) => new Request(`https://example.com/${from + n}`))
    await filter.requestsSeen(requests, `fill ${from}`)
    await filter.settled(`fill ${from}`)
  }
  const bytes = (await redis.getBuffer(key)) ?? Buffer.alloc(0)
  const { bits, hashes } = await filter.describe()
  let positives = 0
  for (let n = 0; n < probes; n++) {
    const offsets = nativeOffsets(hash('sha1', `probe ${n}`), bits, hashes)
    if (offsets.every(isSet)) positives++
  }
  return positives / probes

  // Redis counts bits from the highest of the first byte.
  function isSet(bit: number): boolean {
    return ((bytes[bit >> 3] ?? 0) & (128 >> (bit & 7))) !== 0
  }
}
