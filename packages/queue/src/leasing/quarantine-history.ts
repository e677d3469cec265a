import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'

/** Hash: request id → its history, until it is quarantined or done. `lua/leasing/quarantine.lua` writes it. */
export function historyKey(keys: Pick<CrawlRedisKeys, 'quarantine'>): string {
  return `${keys.quarantine}:history`
}
