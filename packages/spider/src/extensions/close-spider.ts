import { type Crawler, type Extension, NotConfigured } from '@webloom/core'

/** Ends the crawl at the limits of CLOSESPIDER_*; 0 is no limit. What is in flight is finished, so counts may be passed. */
export class CloseSpiderExtension implements Extension {
  readonly #timers: readonly NodeJS.Timeout[]

  constructor(timers: readonly NodeJS.Timeout[]) {
    this.#timers = timers
    for (const timer of timers) timer.unref()
  }

  static fromCrawler(crawler: Crawler): CloseSpiderExtension {
    const { settings, signals } = crawler
    const limits = {
      items: settings.getInt('CLOSESPIDER_ITEMCOUNT'),
      pages: settings.getInt('CLOSESPIDER_PAGECOUNT'),
      pagesWithoutItem: settings.getInt('CLOSESPIDER_PAGECOUNT_NO_ITEM'),
      errors: settings.getInt('CLOSESPIDER_ERRORCOUNT'),
      seconds: settings.getFloat('CLOSESPIDER_TIMEOUT'),
      secondsWithoutItem: settings.getFloat('CLOSESPIDER_TIMEOUT_NO_ITEM'),
    }
    if (Object.values(limits).every((limit) => limit === 0))
      throw new NotConfigured('no CLOSESPIDER_* is set')
    const seen = { items: 0, pages: 0, pagesWithoutItem: 0, errors: 0 }
    const reached = (count: keyof typeof seen) => limits[count] > 0 && ++seen[count] >= limits[count]

    if (limits.items > 0 || limits.pagesWithoutItem > 0 || limits.secondsWithoutItem > 0) {
      signals.connect('itemScraped', () => {
        seen.pagesWithoutItem = 0
        if (reached('items')) crawler.close('closespider_itemcount')
      })
    }
    if (limits.pages > 0 || limits.pagesWithoutItem > 0) {
      signals.connect('responseReceived', () => {
        if (reached('pages')) crawler.close('closespider_pagecount')
        if (reached('pagesWithoutItem')) crawler.close('closespider_pagecount_no_item')
      })
    }
    if (limits.errors > 0) {
      signals.connect('spiderError', () => {
        if (reached('errors')) crawler.close('closespider_errorcount')
      })
    }
    return new CloseSpiderExtension([
      ...(limits.seconds > 0
        ? [setTimeout(() => crawler.close('closespider_timeout'), limits.seconds * 1000)]
        : []),
      ...(limits.secondsWithoutItem > 0 ? [noItemTimer(crawler, limits.secondsWithoutItem * 1000)] : []),
    ])
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }
}

/** Looks every `intervalMs` whether an item came since it last looked. */
function noItemTimer(crawler: Crawler, intervalMs: number): NodeJS.Timeout {
  let itemsBefore = 0
  return setInterval(() => {
    const items = Number(crawler.stats.get('item_scraped_count') ?? 0)
    if (items === itemsBefore) crawler.close('closespider_timeout_no_item')
    itemsBefore = items
  }, intervalMs)
}
