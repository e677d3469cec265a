/** A real crawl that Prometheus watches, and what `deploy/` has for it. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  InUse,
  type PrometheusServer,
  startFakeWebProcess,
  startPrometheus,
  startRedis,
} from '@webloom/testkit'
import { ClusterFolder, STATS_EACH_SECOND } from '../cluster/cluster-crawl.ts'
import { dashStarted } from '../dashboard/dash-processes.ts'
import type { Running } from '../projects/command-hosts.ts'

const DEPLOY = join(import.meta.dirname, '../../deploy')
export const ALERTS = join(DEPLOY, 'prometheus/alerts.yml')
export const PROMETHEUS_CONFIG = join(DEPLOY, 'prometheus/prometheus.yml')

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { readonly expr: string }[]
  }[]
}

export const dashboard: Dashboard = JSON.parse(readFileSync(join(DEPLOY, 'grafana/webloom.json'), 'utf8'))

/** Queries of all panels, with Grafana's variables filled in. */
export function panelQueries(crawl: string, rateInterval: string): { title: string; query: string }[] {
  return dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({
      title,
      query: expr
        .replaceAll('$job', 'webloom')
        .replaceAll('$crawl', crawl)
        .replaceAll('$__rate_interval', rateInterval),
    })),
  )
}

/** A Prometheus that reads the dashboard beside the crawl each second, and has the rules of `deploy/`. */
export function startScraping({ url }: WatchedCrawl): Promise<PrometheusServer> {
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [ALERTS],
    scrape_configs: [{ job_name: 'webloom', static_configs: [{ targets: [new URL(url).host] }] }],
  }
  return startPrometheus(JSON.stringify(config))
}

/** How many series answer the query at this moment. */
export async function seriesCount(prometheus: PrometheusServer, query: string): Promise<number> {
  const { result } = (await prometheus.ask('query', { query })) as { readonly result: readonly unknown[] }
  return result.length
}

export interface WatchedCrawl extends AsyncDisposable {
  /** Of the dashboard. */
  readonly url: string
  readonly worker: Running
}

/** One worker crawls; a dashboard stands beside it. */
export async function startWatchedCrawl(pages: number, latencyMs: number): Promise<WatchedCrawl> {
  await using inUse = new InUse()
  const redis = inUse.use(await startRedis({ maxmemory: '256mb' }))
  const web = inUse.use(
    await startFakeWebProcess({
      hosts: 4,
      pagesPerHost: pages / 4,
      latencyMs,
      errors: 0.05,
      errorStatuses: [404],
    }),
  )
  const settings = {
    REDIS_URL: redis.url,
    DUPEFILTER_CLASS: 'redis-bloom',
    BLOOMFILTER_CAPACITY: 100_000,
    METRICS_TIMES: true,
    // It goes on for as long as it is watched, and need not be fast.
    CONCURRENT_REQUESTS: 4,
    ...STATS_EACH_SECOND,
  }
  const folder = inUse.use(await ClusterFolder.of(web, settings))
  const worker = folder.worker('a')
  const url = await dashStarted(folder)
  const rest = inUse.move()
  return { url, worker, [Symbol.asyncDispose]: () => rest.close() }
}
