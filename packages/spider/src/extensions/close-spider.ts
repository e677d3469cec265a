import { type Crawler, type Extension, NotConfigured } from '@webloom/core'

const LIMITS = [
  'CLOSESPIDER_ITEMCOUNT',
  'CLOSESPIDER_PAGECOUNT',
  'CLOSESPIDER_PAGECOUNT_NO_ITEM',
  'CLOSESPIDER_ERRORCOUNT',
  'CLOSESPIDER_TIMEOUT',
  'CLOSESPIDER_TIMEOUT_NO_ITEM',
] as const

/** A setting that ends the crawl; its name in small letters is the finish reason then. */
export type CrawlLimit = (typeof LIMITS)[number]

/** Returns the limit that a finish reason tells of; undefined for any other one. */
export function limitReached(finishReason: string): CrawlLimit | undefined {
  return LIMITS.find((limit) => limit.toLowerCase() === finishReason)
}

/** How often limits that other workers may reach, too, are checked. */
const LOOK_EVERY_MS = 500

/** A run that is so old was begun by others than a worker that joins it now. */
const BEGUN_BEFORE_MS = 10_000
/** A limit that ends the crawl so soon after its worker joined was hardly meant for all of it. */
const JUST_JOINED_MS = 60_000

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
    const end = endOf(crawler)
    const look = (count: 'items' | 'pages' | 'errors', stat: string, limit: CrawlLimit) => {
      // What others have is told more often once it is asked for.
      if (limits[count] === 0) return
      const all = seen[count] + (others?.stat(stat) ?? 0)
      if (all >= limits[count]) end(limit, `${counted(all, count)}${others ? ' of all workers' : ''}`)
    }
    const check = () => {
      look('items', 'item_scraped_count', 'CLOSESPIDER_ITEMCOUNT')
      look('pages', 'response_received_count', 'CLOSESPIDER_PAGECOUNT')
      look('errors', 'spider_exceptions/count', 'CLOSESPIDER_ERRORCOUNT')
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
          end('CLOSESPIDER_PAGECOUNT_NO_ITEM', `${counted(seen.pagesWithoutItem, 'pages')} without an item`)
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
      ...(limits.seconds > 0 ? [endTimer(crawler, end, limits.seconds)] : []),
      ...(limits.secondsWithoutItem > 0 ? [noItemTimer(crawler, end, limits.secondsWithoutItem)] : []),
    ])
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }
}

/** @param met what has met the limit */
type End = (limit: CrawlLimit, met: string) => void

/** `1 item`, `2 items` */
function counted(count: number, ofMany: string): string {
  return `${count} ${count === 1 ? ofMany.slice(0, -1) : ofMany}`
}

/** A trial with a low limit, where REDIS_URL happens to be set, joins the crawl that is at work there, and ends it: so it is told. */
function endOf({ logger, others, settings, close }: Crawler): End {
  const madeAtMs = performance.now()
  // From the first call on it is known.
  others?.runningMs()
  let hasEnded = false
  return (limit, met) => {
    if (hasEnded) return
    hasEnded = true
    logger.info(`limit met: ${met} (${limit} is ${settings.get(limit)})`)
    const joinedMs = performance.now() - madeAtMs
    const begunBeforeMs = (others?.runningMs() ?? 0) - joinedMs
    if (begunBeforeMs >= BEGUN_BEFORE_MS && joinedMs < JUST_JOINED_MS)
      logger.warn(
        `${limit} of this worker, which joined a crawl of others ${Math.round(joinedMs / 1000)} s ago, ends it for all of them. ` +
          'To try something beside a crawl, give it a name of its own: -s CRAWL_ID=trial',
      )
    close(limit.toLowerCase())
  }
}

/** Ends the crawl a time after its first worker began: a worker that joins late ends with the others. */
function endTimer({ others }: Crawler, end: End, afterSeconds: number): NodeJS.Timeout {
  const met = `it has run for ${afterSeconds} s`
  if (!others) return setTimeout(() => end('CLOSESPIDER_TIMEOUT', met), afterSeconds * 1000)
  return setInterval(() => {
    if (others.runningMs() >= afterSeconds * 1000) end('CLOSESPIDER_TIMEOUT', met)
  }, LOOK_EVERY_MS)
}

/** Checks again and again whether an item has come since the last check, from any worker. */
function noItemTimer({ stats, others }: Crawler, end: End, everySeconds: number): NodeJS.Timeout {
  const itemsNow = () =>
    Number(stats.get('item_scraped_count') ?? 0) + (others?.stat('item_scraped_count') ?? 0)
  let itemsBefore = 0
  return setInterval(() => {
    const items = itemsNow()
    if (items <= itemsBefore) end('CLOSESPIDER_TIMEOUT_NO_ITEM', `no item in ${everySeconds} s`)
    itemsBefore = items
  }, everySeconds * 1000)
}
