import type { HostTotals } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { luaScript } from '../redis/lua.ts'
import { readShards } from '../shards/crawl-shards.ts'
import { askQueues } from './shards-asked.ts'

const totalsScript = luaScript('redis/now.lua', 'slots/totals.lua')

/**
 * Returns how many hosts are in each state, of those of which something waits. It asks each bucket for its lengths, so it costs the same
 * for a hundred hosts and for a million; in one script, as hundreds of commands would cost whoever asks more than Redis. Shards that do not answer are left out.
 */
export async function readHostTotals(redis: Redis, home: CrawlRedisKeys): Promise<HostTotals> {
  const shards = await readShards(redis, home)
  const all = await askQueues(redis, shards, (keys) => totalsOf(redis, keys, shards.buckets))
  return all.reduce(sum, { withLine: 0, ready: 0, later: 0, held: 0, hot: 0, paused: 0 })
}

async function totalsOf(redis: Redis, { frontier }: CrawlRedisKeys, buckets: number): Promise<HostTotals> {
  const reply = await totalsScript.run(redis, [frontier], [String(buckets)])
  const [withLine, later, held, hot, paused] = reply as [number, number, number, number, number]
  return { withLine, ready: Math.max(0, withLine - later - held - hot), later, held, hot, paused }
}

function sum(a: HostTotals, b: HostTotals): HostTotals {
  return {
    withLine: a.withLine + b.withLine,
    ready: a.ready + b.ready,
    later: a.later + b.later,
    held: a.held + b.held,
    hot: a.hot + b.hot,
    paused: a.paused + b.paused,
  }
}
