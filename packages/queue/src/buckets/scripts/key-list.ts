import { historyKey } from '../../leasing/quarantine-history.ts'
import type { CrawlRedisKeys } from '../../redis/crawl-redis-keys.ts'

/** KEYS of all scripts of buckets, in the order of `lua/slots/keys.lua`. */
export function keyListOf(keys: CrawlRedisKeys): readonly string[] {
  return [
    keys.frontier,
    keys.frontierCounts,
    keys.alone,
    keys.quarantine,
    historyKey(keys),
    `${keys.base}:`,
    keys.record,
    keys.noted,
  ]
}
