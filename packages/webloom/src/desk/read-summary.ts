/** A crawl on Redis in a list of many. */

import { type CrawlSummary, totalsOf, within } from '@webloom/core'
import { type CrawlView, readCrawl, refuseOtherFormat } from '@webloom/queue'
import type { CrawlFromOutside } from '../assembly/crawl-from-outside.ts'
import { refusalOf } from '../redis/redis-refusal.ts'
import { isAway } from './redis-crawl-desk.ts'

/** A list of many crawls waits no longer for one of them; a shard that does not answer is left out before that. */
const SUMMARY_MS_MAX = 2500

/** Never rejects: a server that does not answer is told in its place. */
export async function readSummary(id: string, crawl: CrawlFromOutside): Promise<CrawlSummary> {
  const known = { id, spider: crawl.name.spider, crawlId: crawl.name.crawlId, server: crawl.shown }
  try {
    if (isAway(crawl.redis)) throw new Error(`Redis at ${crawl.shown} cannot be reached`)
    const view = await within(SUMMARY_MS_MAX, `Redis at ${crawl.shown}`, readable(crawl))
    const present = view.workers.filter(({ lost }) => !lost)
    return {
      ...known,
      state: view.state,
      paused: view.paused,
      begunAt: view.begunAt?.toISOString() ?? null,
      endedAt: view.endedAt?.toISOString() ?? null,
      finishReason: view.finishReason,
      workers: {
        present: present.length,
        lost: view.workers.length - present.length,
        blocked: present.filter(({ blocked }) => blocked).length,
      },
      counts: view.counts,
      pagesPerMinute: view.pagesPerMinute,
      itemsPerMinute: view.itemsPerMinute,
      totals: totalsOf(view.stats),
    }
  } catch (thrown) {
    const error = refusalOf(thrown) ?? (thrown as Error)
    return { ...known, ...UNKNOWN, trouble: error.message }
  }
}

async function readable(crawl: CrawlFromOutside): Promise<CrawlView> {
  const [view] = await Promise.all([readCrawl(crawl), refuseOtherFormat(crawl)])
  return view
}

/** Returns what stands in the place of the crawls of a server that has not answered yet. */
export function silentSummary(server: string, trouble: string): CrawlSummary {
  return { id: server, spider: '', crawlId: null, server, ...UNKNOWN, trouble }
}

const UNKNOWN: Omit<CrawlSummary, 'id' | 'spider' | 'crawlId' | 'server'> = {
  state: null,
  paused: false,
  begunAt: null,
  endedAt: null,
  finishReason: null,
  workers: { present: 0, lost: 0, blocked: 0 },
  counts: { waiting: 0, delayed: 0, leased: 0, quarantined: 0 },
  pagesPerMinute: 0,
  itemsPerMinute: 0,
  totals: { pages: 0, items: 0, errors: 0, filtered: 0, retries: 0 },
}
