import type { Query, Region } from '../live/region.ts'
import type { WatchedDesk } from '../live/watched-desk.ts'

/** Who looks. */
export interface Looker {
  /** Crawls may be told things, so there are buttons for that. */
  readonly control: boolean
}

/** One view of a crawl. */
export interface CrawlView {
  /** The last part of its address. */
  readonly path: string
  readonly title: string
  /** Reads what it shows. Rejects while Redis is away. */
  regions(watched: WatchedDesk, query: Query, looker: Looker): Promise<readonly Region[]>
}
