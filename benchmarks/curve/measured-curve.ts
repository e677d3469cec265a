/** What `curve-bench.ts` has measured, as sections of a page and as charts. */

import type { Cluster, ClusterPoint } from './growing-cluster.ts'
import type { QueuePoint } from './growing-queue.ts'
import type { Chart } from './line-chart.ts'
import type { PartOfPage } from './worker-profile.ts'

export interface Curve {
  /** When, and on what machine. */
  readonly measured: string
  readonly isShort: boolean
  readonly cores: number
  /** Crawled at each size of the queue. */
  readonly samplePages: number
  /** Crawled by each cluster. */
  readonly sitePages: number
  readonly queue: readonly QueuePoint[]
  readonly clusters: readonly ClusterPoint[]
  /** Of one worker. */
  readonly parts: readonly PartOfPage[]
}

/** The sections of the page that are made of figures, by their names there. */
export function sectionsOf(curve: Curve): Record<string, string> {
  const { measured, isShort, samplePages, sitePages } = curve
  const command = `benchmarks/curve-bench.ts${isShort ? ' --short' : ''}`
  return {
    measured: `\`node --conditions=webloom-source ${command}\`: ${measured}. ${grouped(samplePages)} pages crawled at each size of the queue, ${grouped(sitePages)} by the workers.`,
    parts: partsTable(curve),
    queue: queueTable(curve),
    workers: workersTable(curve),
    ceilings: ceilingsTable(curve),
  }
}

function partsTable({ parts }: Curve): string {
  return table(
    ['part', 'of a worker’s time'],
    parts.map(({ part, share }) => [part, `${Math.round(100 * share)} %`]),
  )
}

function queueTable({ queue }: Curve): string {
  return table(
    ['hosts', 'queued', 'at each host', 'bytes a request', 'Redis µs a page', 'scripts a page', 'pages/s'],
    queue.map((point) => [
      grouped(point.hosts),
      grouped(point.queued),
      grouped(point.queued / point.hosts),
      grouped(point.bytesPerRequest),
      grouped(point.microsPerPage),
      point.scriptsPerPage.toFixed(2),
      grouped(point.pagesPerSecond),
    ]),
  )
}

function workersTable({ clusters }: Curve): string {
  return table(
    [
      'workers, dupefilter',
      'pages/s',
      'CPU µs a page, starting included',
      'queue’s Redis µs a page',
      'dupefilter’s Redis µs a page',
    ],
    clusters.map((point) => [
      `${point.workers}, ${point.filter}`,
      ...[point.pagesPerSecond, point.workerMicros, point.queueMicros, point.filterMicros].map(grouped),
    ]),
  )
}

function ceilingsTable({ queue, clusters }: Curve): string {
  const byCost = queue.filter(({ hosts }) => hosts > 1).toSorted((a, b) => a.microsPerPage - b.microsPerPage)
  const alone = (filter: Cluster['filter']) =>
    clusters.find((point) => point.workers === 1 && point.filter === filter)!
  const [set, bloom] = [alone('redis-set'), alone('redis-bloom')]
  const rows: (readonly [string, number])[] = [
    ...[byCost[0]!, byCost.at(-1)!].map(
      ({ queued, hosts, microsPerPage }) =>
        [
          `queue’s Redis, ${grouped(queued / hosts)} queued at each of ${grouped(hosts)} hosts`,
          microsPerPage,
        ] as const,
    ),
    ['queue’s Redis, whole crawl of one host', set.queueMicros],
    ['dupefilter’s Redis, set', set.filterMicros],
    ['dupefilter’s Redis, Bloom at 1e-6 with 20 hashes', bloom.filterMicros],
    ['one Redis for both, set', set.queueMicros + set.filterMicros],
    ['worker, links only, starting included', set.workerMicros],
  ]
  return table(
    ['one core of …', 'µs a page', 'pages/s at most', 'at 60 %'],
    rows.map(([name, micros]) => [name, ...[micros, 1e6 / micros, 0.6e6 / micros].map(grouped)]),
  )
}

export function chartsOf({ cores, queue, clusters }: Curve): Record<string, Chart> {
  const byHosts = (figure: 'microsPerPage' | 'bytesPerRequest') =>
    [...new Set(queue.map(({ hosts }) => hosts))].map((hosts) => ({
      name: hosts === 1 ? '1 host' : `${grouped(hosts)} hosts`,
      points: queue
        .filter((point) => point.hosts === hosts)
        .map((point): [number, number] => [point.queued, point[figure]]),
    }))
  return {
    'redis-time': {
      title: 'What a page costs the queue’s Redis',
      xLabel: 'requests queued',
      yLabel: 'µs of Redis a page',
      lines: byHosts('microsPerPage'),
    },
    'queue-memory': {
      title: 'What a queued request weighs',
      xLabel: 'requests queued',
      yLabel: 'bytes of Redis a request',
      lines: byHosts('bytesPerRequest'),
    },
    workers: {
      title: `Pages a second of all workers, ${cores} cores for everything`,
      xLabel: 'worker processes',
      yLabel: 'pages/s',
      lines: [
        {
          name: 'redis-set',
          points: clusters
            .filter(({ filter }) => filter === 'redis-set')
            .map(({ workers, pagesPerSecond }) => [workers, pagesPerSecond]),
        },
      ],
    },
  }
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, n) => (n === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}

function grouped(number: number): string {
  return Math.round(number).toLocaleString('en-US').replaceAll(',', ' ')
}
