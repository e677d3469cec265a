import type { Query, Region } from '../live/region.ts'
import type { WatchedDesk } from '../live/watched-desk.ts'

/** One view of a crawl. */
export interface CrawlView {
  /** The last part of its address. */
  readonly path: string
  readonly title: string
  /** Reads what it shows. Rejects while Redis is away. */
  regions(watched: WatchedDesk, query: Query): Promise<readonly Region[]>
}
