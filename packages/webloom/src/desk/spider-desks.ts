/**
 * The desks of crawls on Redis that are known by their spiders: those of a project, or those that a command line names.
 *
 * A crawl's connections are opened by the first look at it and kept. A Redis that does not answer costs its own crawls alone.
 */

import {
  type CrawlDesk,
  type CrawlDesks,
  type CrawlSummary,
  silentLogger,
  totalsOf,
  within,
} from '@webloom/core'
import { readCrawl } from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import {
  type CrawlFromOutside,
  crawlerFromOutside,
  crawlFromOutside,
  type OutsideFlags,
} from '../assembly/crawl-from-outside.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { refusalOf } from '../redis/redis-refusal.ts'
import { RedisCrawlDesk } from './redis-crawl-desk.ts'

/** A list of many crawls waits no longer for one of them. */
const SUMMARY_MS_MAX = 1500

interface KnownCrawl {
  readonly id: string
  readonly crawl: CrawlFromOutside
  readonly desk: RedisCrawlDesk
}

export class SpiderDesks implements CrawlDesks {
  readonly #crawls: ReadonlyMap<string, KnownCrawl>

  private constructor(crawls: readonly CrawlFromOutside[]) {
    const known = new Map<string, KnownCrawl>()
    for (const crawl of crawls) {
      const id = idIn(known, crawl)
      known.set(id, { id, crawl, desk: new RedisCrawlDesk(id, crawl) })
    }
    this.#crawls = known
  }

  /** Throws `SettingsError`, and `UsageError` where no Redis is named. Opens nothing. */
  static async of(
    spiders: readonly SpiderClass[],
    flags: OutsideFlags,
    config: LoadedConfig,
  ): Promise<SpiderDesks> {
    const crawlers = await Promise.all(
      spiders.map((Class) => crawlerFromOutside(Class, flags, config, () => silentLogger)),
    )
    return new SpiderDesks(crawlers.map((crawler) => crawlFromOutside(crawler, config.folder)))
  }

  async crawls(): Promise<readonly CrawlSummary[]> {
    const summaries = await Promise.all([...this.#crawls.values()].map(summaryOf))
    return summaries.sort(
      (a, b) =>
        rankOf(a) - rankOf(b) || (b.begunAt ?? '').localeCompare(a.begunAt ?? '') || a.id.localeCompare(b.id),
    )
  }

  desk(id: string): Promise<CrawlDesk | undefined> {
    return Promise.resolve(this.#crawls.get(id)?.desk)
  }

  async close(): Promise<void> {
    for (const { crawl, desk } of this.#crawls.values()) {
      await desk.close().catch(() => {})
      crawl.servers.close()
    }
  }
}

/** The queue's name without its braces; what is on another server has a number behind it. */
function idIn(known: ReadonlyMap<string, unknown>, { keys }: CrawlFromOutside): string {
  const name = keys.queueName.slice(1, -1)
  let id = name
  for (let n = 2; known.has(id); n++) id = `${name}:${n}`
  return id
}

function rankOf({ state }: CrawlSummary): number {
  return state === 'running' ? 0 : state === 'stopped' ? 1 : state === 'idle' || state === null ? 3 : 2
}

async function summaryOf({ id, crawl }: KnownCrawl): Promise<CrawlSummary> {
  const known = { id, spider: crawl.name.spider, crawlId: crawl.name.crawlId, server: crawl.shown }
  try {
    const view = await within(SUMMARY_MS_MAX, crawl.shown, readCrawl(crawl))
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
