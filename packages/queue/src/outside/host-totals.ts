import type { HostTotals } from '@webloom/core'
import type { Redis } from 'ioredis'
import { BUCKETS, isBucket } from '../politeness/bucket-of.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'

/**
 * Returns how many hosts are in each state, of those of which something waits. It asks each bucket for its lengths, so it costs the same
 * for a hundred hosts and for a million.
 *
 * @param nowMs by Redis's clock
 */
export async function readHostTotals(
  redis: Redis,
  { frontier }: CrawlRedisKeys,
  nowMs: number,
): Promise<HostTotals> {
  const asked = redis.pipeline()
  for (let n = 0; n < BUCKETS; n++)
    asked.hlen(`${frontier}:lines:#${n}`).zcard(`${frontier}:later:#${n}`).scard(`${frontier}:with:#${n}`)
  asked.zcount(`${frontier}:paused`, String(nowMs), '+inf').zrange(`${frontier}:due`, '0', '-1')
  const answers = await asked.exec()
  const values = (answers ?? []).map(([error, value]) => {
    if (error) throw error
    return value
  })
  const sum = (kind: number) =>
    Array.from({ length: BUCKETS }, (_, n) => Number(values[3 * n + kind])).reduce((all, one) => all + one)
  const [withLine, later, held] = [sum(0), sum(1), sum(2)]
  const hot = hotUnits(values.at(-1) as string[])
  return {
    withLine,
    ready: Math.max(0, withLine - later - held - hot),
    later,
    held,
    hot,
    paused: Number(values.at(-2)),
  }
}

/** Units are buckets, and hot slots by their own names. */
function hotUnits(jobs: readonly string[]): number {
  const units = new Set(jobs.map((job) => job.replace(/~\d+~\d+$/, '')))
  return [...units].filter((unit) => !isBucket(unit)).length
}
