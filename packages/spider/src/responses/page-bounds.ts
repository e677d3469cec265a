import { type Logger, protectionStat, type Settings, type StatsCollector } from '@webloom/core'

/** How much of a page is read. */
export interface PageBounds {
  /** The most elements, texts and attributes of its tree. */
  readonly nodesMax: number
  /** The most links that are read from it without a tree. */
  readonly linksMax: number
  /** Called when the page is longer than the bound. */
  onExceeded(reason: 'page_nodes' | 'page_links', url: string): void
}

/** No bounds, for responses that are made by hand. */
export const NO_BOUNDS: PageBounds = {
  nodesMax: Number.POSITIVE_INFINITY,
  linksMax: Number.POSITIVE_INFINITY,
  onExceeded() {},
}

export function pageBoundsOf(settings: Settings, stats: StatsCollector, logger: Logger): PageBounds {
  const bound = (most: number) => (most > 0 ? most : Number.POSITIVE_INFINITY)
  const nodesMax = bound(settings.getInt('PAGE_MAX_NODES'))
  const linksMax = bound(settings.getInt('PAGE_MAX_LINKS'))
  return {
    nodesMax,
    linksMax,
    onExceeded(reason, url) {
      stats.inc(protectionStat(reason))
      const exceeded = reason === 'page_nodes' ? { PAGE_MAX_NODES: nodesMax } : { PAGE_MAX_LINKS: linksMax }
      logger.warn({ url, ...exceeded }, 'this page has more than a bound allows; the rest of it is not read')
    },
  }
}
