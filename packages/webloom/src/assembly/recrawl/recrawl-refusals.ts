/** What speaks against RECRAWL where a crawl is set so: it is refused, or told of, before anything is fetched. */

import { type Crawler, type KeptVisits, type RequestQueue, SettingsError } from '@webloom/core'
import { type Monitors, OwnLines } from '@webloom/spider'
import { typedCrawl } from '../../redis/typed-crawl.ts'
import { shellQuoted } from '../../terminal/resume-line.ts'
import type { VisitHours } from './visit-hours.ts'

type RecrawlKind = 'fixed' | 'adaptive'

/** Due pages are kept by tens of minutes there. */
const REDIS_HOURS_MIN = 0.5

/** Returns the visits beside the queue. Throws `SettingsError` for a queue that keeps none. */
export function keptVisitsOf({ visits }: RequestQueue, kind: RecrawlKind): KeptVisits {
  if (visits) return visits
  throw new SettingsError([
    `RECRAWL is ${kind}, and a crawl with QUEUE_MODE=job keeps no visits of its pages. Set QUEUE_MODE=turns, or RECRAWL=off`,
  ])
}

/** Throws `SettingsError` for a crawl on Redis that would visit pages again sooner than its wheel can tell. */
export function refuseShortHours({ minHours }: VisitHours, kind: RecrawlKind): void {
  if (minHours >= REDIS_HOURS_MIN) return
  throw new SettingsError([
    `RECRAWL_INTERVAL${kind === 'fixed' ? '' : '_MIN'} is ${minHours} hours; on Redis ${REDIS_HOURS_MIN} is the least, as a page is due up to ten minutes before its hour there`,
  ])
}

/**
 * Refuses a run without RECRAWL that would fetch pages which are to be visited again: they would be done for good, while their visits say that
 * they wait in a line. Where nothing is queued the run would fetch a start page and end well, as if no page were due.
 * SCHEDULER_FLUSH_ON_START would forget the requests, and not the visits.
 */
export async function refuseVisitedPages(
  { visitsKept }: { readonly visitsKept: () => Promise<number> },
  crawler: Pick<Crawler, 'settings' | 'spider'>,
): Promise<void> {
  const pages = await visitsKept()
  if (pages === 0) return
  throw new SettingsError([
    `RECRAWL is off, and the crawl that goes on here comes back to its pages (${pages} are known): none would be visited again at its hour. Set RECRAWL as before, -s RECRAWL=adaptive or -s RECRAWL=fixed, or forget the crawl with its visits: ${howToForget(crawler)}`,
  ])
}

/** Returns what to do to begin anew where this crawl cannot go on. */
export function howToForget({ settings, spider }: Pick<Crawler, 'settings' | 'spider'>): string {
  const folder = settings.get('JOBDIR')
  return folder === null
    ? `webloom clear ${typedCrawl(spider, settings)}, or set another CRAWL_ID`
    : `remove the folder ${shellQuoted(folder)}, or set another JOBDIR`
}

interface SettingsTold {
  readonly kind: RecrawlKind
  readonly monitors: Monitors | undefined
  readonly isOnRedis: boolean
  /** The crawl ends when nothing is left to do. */
  readonly ends: boolean
}

/** Tells of settings beside which a recrawl does less than it seems to. Advice on monitors is their own line: `warnings: 0` does not judge it. */
export function warnOfRecrawl(
  { settings, logger, stats }: Pick<Crawler, 'settings' | 'logger' | 'stats'>,
  { kind, monitors, isOnRedis, ends }: SettingsTold,
): void {
  if (settings.getBool('HTTPCACHE_ENABLED'))
    logger.warn(
      `RECRAWL is ${kind}, and HTTPCACHE_ENABLED is true: pages that come from the cache are not fetched, so their changes go unnoticed. Turn one of the two off`,
    )
  if (ends && !isOnRedis && settings.get('JOBDIR') === null)
    logger.info(
      `RECRAWL is ${kind}, and this crawl is in memory: it forgets its visits when it ends. Set JOBDIR=folder or REDIS_URL=redis://host:6379, or let it stay (--stay)`,
    )
  const counting = settings.getBool('RECRAWL_UNCHANGED_ITEMS') ? [] : countingItems(monitors)
  if (counting.length > 0)
    new OwnLines(logger, stats).warn(
      {},
      `${counting.join(' and ')} count${counting.length === 1 ? 's' : ''} the items that are written, and RECRAWL is ${kind}: those of pages that have not changed are not written again, so from the second run on ${counting.includes(EVERY_MINUTES) ? 'nearly all will seem to be missing' : 'it is not judged'}. Watch items.drop (items of each changed page), coverage, statuses and errors in their place, or set RECRAWL_UNCHANGED_ITEMS=true`,
    )
}

const EVERY_MINUTES = 'the monitor items.everyMinutes'

/** The monitors that count items which are not written; `items.drop` is judged by the page. */
function countingItems({ items }: Monitors = {}): string[] {
  return (['min', 'everyMinutes'] as const).flatMap((name) =>
    items?.[name] ? [`the monitor items.${name}`] : [],
  )
}
