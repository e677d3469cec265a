import type { CrawlView } from './crawl-view.ts'
import { dedup } from './dedup.tsx'
import { failures } from './failures.tsx'
import { hosts } from './hosts.tsx'
import { items } from './items.tsx'
import { oneHost } from './one-host.tsx'
import { overview } from './overview.tsx'
import { redis } from './redis.tsx'
import { runs } from './runs.tsx'
import { settings } from './settings.tsx'
import { skips } from './skips.tsx'
import { workers } from './workers.tsx'

/** In the order in which they are offered. */
export const VIEWS: readonly CrawlView[] = [
  overview,
  hosts,
  failures,
  skips,
  dedup,
  items,
  workers,
  redis,
  settings,
  runs,
]

/** Found by an address, and not offered as a view of its own. */
const OTHERS: readonly CrawlView[] = [oneHost]

export function viewAt(path: string): CrawlView | undefined {
  return [...VIEWS, ...OTHERS].find((view) => view.path === path)
}
