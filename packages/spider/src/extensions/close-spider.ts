import { type Crawler, type Extension, NotConfigured } from '@webloom/core'

/** How often limits that other workers may reach, too, are checked. */
const LOOK_EVERY_MS = 500

/** What is counted of all workers together. */
const COUNTED = [
  {
    what: 'items',
    setting: 'CLOSESPIDER_ITEMCOUNT',
    stat: 'item_scraped_count',
    reason: 'closespider_itemcount',
  },
  {
    what: 'pages',
    setting: 'CLOSESPIDER_PAGECOUNT',
    stat: 'response_received_count',
    reason: 'closespider_pagecount',
  },
  {
    what: 'errors',
    setting: 'CLOSESPIDER_ERRORCOUNT',
    stat: 'spider_exceptions/count',
    reason: 'closespider_errorcount',
  },
] as const

/**
 * Ends the crawl at the limits of CLOSESPIDER_*; 0 is no limit. Each limit counts all workers together, except
 * CLOSESPIDER_PAGECOUNT_NO_ITEM, as the pages of several workers have no order. Requests in flight are finished, and other
 * workers' counts are about a second old, so the counts may end up higher.
 */
export class CloseSpiderExtension implements Extension {
  readonly #timers: readonly NodeJS.Timeout[]

  constructor(timers: readonly NodeJS.Timeout[]) {
    this.#timers = timers
    for (const timer of timers) timer.unref()
  }

  static fromCrawler(crawler: Crawler): CloseSpiderExtension {
    const { settings, signals, others } = crawler
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
    const counted = COUNTED.filter(({ what }) => limits[what] > 0)
    const othersAtFirst: { [what: string]: number } = {}
    let isReached = false
    const check = () => {
      for (const { what, setting, stat, reason } of counted) {
        const byOthers = others?.stat(stat) ?? 0
        if (byOthers > 0) othersAtFirst[what] ??= byOthers
        if (isReached || seen[what] + byOthers < limits[what]) continue
        isReached = true
        const atFirst = othersAtFirst[what] ?? 0
        if (atFirst >= limits[what])
          warnOfJoining(crawler, `${setting}=${limits[what]}`, `${atFirst} ${what}`)
        crawler.close(reason)
      }
    }

    if (limits.items > 0 || limits.pagesWithoutItem > 0) {
      signals.connect('itemScraped', () => {
        seen.pagesWithoutItem = 0
        seen.items++
        check()
      })
    }
    if (limits.pages > 0 || limits.pagesWithoutItem > 0) {
      signals.connect('responseReceived', () => {
        seen.pages++
        check()
        if (limits.pagesWithoutItem > 0 && ++seen.pagesWithoutItem >= limits.pagesWithoutItem)
          crawler.close('closespider_pagecount_no_item')
      })
    }
    if (limits.errors > 0) {
      signals.connect('spiderError', () => {
        seen.errors++
        check()
      })
    }
    return new this([
      ...(others && limits.items + limits.pages + limits.errors > 0
        ? [setInterval(check, LOOK_EVERY_MS)]
        : []),
      ...(limits.seconds > 0 ? [endTimer(crawler, limits.seconds * 1000)] : []),
      ...(limits.secondsWithoutItem > 0 ? [noItemTimer(crawler, limits.secondsWithoutItem * 1000)] : []),
    ])
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }
}

/** A trial with a low limit, where REDIS_URL happens to be set, joins the crawl that is at work there. */
function warnOfJoining({ logger }: Crawler, limit: string, before: string): void {
  logger.warn(
    `${limit} is a limit for all workers together, and the others had ${before} when this one joined: the crawl ends for all of them. ` +
      'To try something beside it, give it a name of its own: -s CRAWL_ID=trial',
  )
}

/** Ends the crawl a time after its first worker began: a worker that joins late ends with the others. */
function endTimer(crawler: Crawler, afterMs: number): NodeJS.Timeout {
  const { others } = crawler
  if (!others) return setTimeout(() => crawler.close('closespider_timeout'), afterMs)
  return setInterval(() => {
    if (others.runningMs() >= afterMs) crawler.close('closespider_timeout')
  }, LOOK_EVERY_MS)
}

/** Checks every `intervalMs` whether an item has come since the last check, from any worker. */
function noItemTimer({ stats, others, close }: Crawler, intervalMs: number): NodeJS.Timeout {
  const itemsNow = () =>
    Number(stats.get('item_scraped_count') ?? 0) + (others?.stat('item_scraped_count') ?? 0)
  let itemsBefore = 0
  return setInterval(() => {
    const items = itemsNow()
    if (items <= itemsBefore) close('closespider_timeout_no_item')
    itemsBefore = items
  }, intervalMs)
}
