/** `/metrics` of all crawls that somebody may look at: read when it is scraped, and nothing is kept. */

import { type CrawlDesks, type CrawlSummary, within } from '@webloom/core'
import { Hono } from 'hono'
import { WatchedDesks } from '../live/watched-desk.ts'
import { type CrawlReading, crawlFamilies, upFamily } from './crawl-families.ts'
import { type MetricFamily, metricsText } from './metric-family.ts'
import { scheduleFamilies } from './schedule-families.ts'

export interface MetricsRoutesOptions {
  /** Watched ones share what was read for pages a moment ago. */
  readonly desks: CrawlDesks | WatchedDesks
}

/** Those that run come first; `webloom_crawls_left_out` counts the rest. */
const CRAWLS_MAX = 50
// Prometheus waits ten seconds for a page if not told otherwise. A crawl whose Redis hangs must not cost the others theirs.
const CRAWL_MS_MAX = 4000

/** A Hono app with `GET /metrics`. */
export function metricsRoutes({ desks }: MetricsRoutesOptions): Hono {
  const watched = desks instanceof WatchedDesks ? desks : new WatchedDesks(desks)
  let reading: Promise<MetricFamily[]> | undefined
  // Several that scrape at one moment share what is read.
  const read = () => {
    reading ??= allFamilies(watched).finally(() => {
      reading = undefined
    })
    return reading
  }
  const app = new Hono()
  app.get('/metrics', async (c) => {
    const { contentType, text } = await metricsText(await read(), c.req.header('accept'))
    return c.body(text, 200, { 'Content-Type': contentType, 'Cache-Control': 'no-store' })
  })
  return app
}

async function allFamilies(desks: WatchedDesks): Promise<MetricFamily[]> {
  // Servers that do not answer are left out of what is scheduled.
  const [crawls, scheduled] = await Promise.all([desks.crawls(), desks.scheduledRuns().catch(() => [])])
  const shown = crawls.slice(0, CRAWLS_MAX)
  const families = await Promise.all(shown.map((crawl) => familiesOf(desks, crawl)))
  return [leftOut(crawls.length - shown.length), ...families.flat(), ...scheduleFamilies(scheduled)]
}

async function familiesOf(desks: WatchedDesks, { id, state }: CrawlSummary): Promise<MetricFamily[]> {
  if (state === null) return [upFamily(id, false)]
  try {
    const reading = await within(CRAWL_MS_MAX, `crawl ${id}`, readCrawl(desks, id))
    return reading ? crawlFamilies(id, reading) : []
  } catch {
    // Its Redis has gone since the list was read: `webloom_up` says so, and the dashboard why.
    return [upFamily(id, false)]
  }
}

async function readCrawl(desks: WatchedDesks, id: string): Promise<CrawlReading | undefined> {
  const desk = await desks.desk(id)
  if (!desk) return undefined
  // The status tells whether the crawl's servers answer; a filter on another server may be away alone.
  const [status, filter, hosts, scale, runs] = await Promise.all([
    desk.status(),
    desk.view('filter').catch(() => undefined),
    desk.view('hosts').catch(() => undefined),
    desk.view('scale').catch(() => undefined),
    desk.view('runs').catch(() => undefined),
  ])
  return { status, filter, hosts, scale, runs }
}

function leftOut(count: number): MetricFamily {
  return {
    name: 'webloom_crawls_left_out',
    help: `Crawls that are not on this page, because there are more than ${CRAWLS_MAX}.`,
    type: 'gauge',
    labels: [],
    values: [{ labels: {}, value: count }],
  }
}
