/** `/metrics`, `/healthz` and `/readyz` of one process that crawls: METRICS_PORT. */

import type { Health, StatValue } from '@webloom/core'
import { Hono } from 'hono'
import { healthRoutes } from '../serving/health-routes.ts'
import { type Listening, listenOn } from '../serving/listen-on.ts'
import { isLoopback, loopbackNamesOnly } from '../serving/security.ts'
import { statFamilies } from './crawl-families.ts'
import { type MetricFamily, metricsText } from './metric-family.ts'
import { ProcessMetrics } from './process-families.ts'

export interface StartMetricsOptions {
  /** Its label: `quotes`, or `quotes@2026-11` with a CRAWL_ID. */
  readonly crawl: string
  /** What this process has counted. */
  readonly stats: () => Readonly<Record<string, StatValue>>
  /** Requests that it has at this moment. */
  readonly activity: () => { readonly downloading: number; readonly scraping: number }
  /** Whether it is alive, and takes requests. */
  readonly health: Health
  readonly host: string
  readonly port: number
}

/** Rejects when it cannot listen at the address and port. What listens does not keep the process alive. */
export async function startMetrics(options: StartMetricsOptions): Promise<Listening> {
  const own = new ProcessMetrics()
  const app = new Hono()
  if (isLoopback(options.host)) app.use(loopbackNamesOnly())
  app.get('/metrics', async (c) => {
    const families = [...own.families(), ...statFamilies(options.crawl, options.stats()), inFlight(options)]
    const { contentType, text } = await metricsText(families, c.req.header('accept'))
    return c.body(text, 200, { 'Content-Type': contentType, 'Cache-Control': 'no-store' })
  })
  app.route('/', healthRoutes(options.health))
  try {
    const listening = await listenOn(app.fetch, options)
    listening.unref()
    return {
      ...listening,
      async close() {
        own.close()
        await listening.close()
      },
    }
  } catch (error) {
    own.close()
    throw error
  }
}

function inFlight({ crawl, activity }: StartMetricsOptions): MetricFamily {
  const { downloading, scraping } = activity()
  const values = Object.entries({ downloading, scraping }).map(([state, value]) => ({
    labels: { crawl, state },
    value,
  }))
  return {
    name: 'webloom_process_requests',
    help: 'Requests that this process has, by what it does with them.',
    type: 'gauge',
    labels: ['crawl', 'state'],
    values,
  }
}
