import type { Redis } from 'ioredis'
import type { HostView } from '../outside/crawl-view.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { TurnScripts } from './turn-scripts.ts'

/** How many hosts are looked at; of more, the largest of these are shown. */
const LOOKED_AT_MAX = 2000
const MAX_HOSTS_PER_LOOK = 200

/** Returns hosts that have a line: paused ones, longest pause first, then those with the most waiting. At most `most`. */
export async function readTurnHosts(redis: Redis, keys: CrawlRedisKeys, most: number): Promise<HostView[]> {
  const scripts = new TurnScripts({ redis, keys, order: 'priority' })
  const seen = new Map<string, HostView>()
  let cursor = '0'
  do {
    const part = await scripts.hosts(cursor, MAX_HOSTS_PER_LOOK)
    for (const host of part.hosts) seen.set(host.slot, host)
    cursor = part.cursor
  } while (cursor !== '0' && seen.size < LOOKED_AT_MAX)
  return [...seen.values()]
    .sort((a, b) => b.pausedMs - a.pausedMs || b.waiting - a.waiting || (a.slot < b.slot ? -1 : 1))
    .slice(0, most)
}
