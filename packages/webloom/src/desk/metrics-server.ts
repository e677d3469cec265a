/** METRICS_PORT: `/metrics`, `/healthz` and `/readyz` of this process, by `@webloom/dashboard`, which is loaded only where it is asked for. */

import { crawlTitle, UsageError } from '@webloom/core'
import type { Crawl } from '../assembly/crawl.ts'
import { crawlHealth } from '../processes/crawl-health.ts'
import { dashboardPackage } from './dashboard-package.ts'

/** Answers from now on; resolves to what ends it. Throws `UsageError` when nothing can listen there. */
export async function serveMetrics(crawl: Crawl): Promise<() => Promise<void>> {
  const { settings, spider, logger } = crawl
  const port = settings.getInt('METRICS_PORT')
  if (port === 0) return async () => {}
  const { startMetrics } = await dashboardPackage('METRICS_PORT')
  const host = settings.getString('METRICS_HOST')
  const server = await startMetrics({
    crawl: crawlTitle(spider.name, settings.get('CRAWL_ID')),
    stats: () => crawl.stats.snapshot(),
    activity: () => crawl.inside.engine.activity,
    health: crawlHealth(crawl),
    host,
    port,
  }).catch((error: NodeJS.ErrnoException) => {
    throw cannotListen(error, host, port)
  })
  logger.info(`metrics are at ${server.url}metrics`)
  return () => server.close()
}

/** The command line of the n-th of several processes: each has a port of its own. */
export function withMetricsPort(argv: readonly string[], port: number, place: number): readonly string[] {
  return port === 0 ? argv : [...argv, '-s', `METRICS_PORT=${port + place}`]
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const why = {
    EADDRINUSE: `another process listens there. Name another port:  -s METRICS_PORT=${port + 100}`,
    EADDRNOTAVAIL: 'this machine has no such address. METRICS_HOST=0.0.0.0 is all that it has',
    ENOTFOUND: 'this machine has no such address. METRICS_HOST=0.0.0.0 is all that it has',
    EACCES: 'ports below 1024 need more rights. Name another port:  -s METRICS_PORT=9464',
  }[error.code ?? '']
  if (why === undefined) return error
  return new UsageError('WL_USAGE', `METRICS_PORT cannot listen on ${host}, port ${port}: ${why}`)
}
