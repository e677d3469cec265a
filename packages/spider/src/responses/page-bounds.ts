import { type Logger, protectionStat, type Settings, type StatsCollector } from '@webloom/core'

/** How much of a page is looked at. */
export interface PageBounds {
  /** Elements, texts and attributes in its tree. */
  readonly nodesMax: number
  /** Links taken from it without a tree. */
  readonly linksMax: number
  /** There is more of the page than is looked at. */
  onExceeded(reason: 'page_nodes' | 'page_links', url: string): void
}

/** For responses that are made by hand. */
export const NO_BOUNDS: PageBounds = {
  nodesMax: Number.POSITIVE_INFINITY,
  linksMax: Number.POSITIVE_INFINITY,
  onExceeded() {},
}

const SETTING_OF = { page_nodes: 'PAGE_MAX_NODES', page_links: 'PAGE_MAX_LINKS' } as const

export function pageBoundsOf(settings: Settings, stats: StatsCollector, logger: Logger): PageBounds {
  const max = (name: 'PAGE_MAX_NODES' | 'PAGE_MAX_LINKS') =>
    settings.getInt(name) > 0 ? settings.getInt(name) : Number.POSITIVE_INFINITY
  return {
    nodesMax: max('PAGE_MAX_NODES'),
    linksMax: max('PAGE_MAX_LINKS'),
    onExceeded(reason, url) {
      stats.inc(protectionStat(reason))
      const setting = SETTING_OF[reason]
      logger.warn({ url, [setting]: max(setting) }, 'this page holds more; the rest of it is not looked at')
    },
  }
}
