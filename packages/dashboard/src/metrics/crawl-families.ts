/** The metrics of one crawl: those of its stats, and what is read of it at this moment. */

import {
  CRAWL_STATES,
  type CrawlStatus,
  type FilterSeen,
  type HostsSeen,
  LIMIT_KINDS,
  type RunSeen,
  type ScaleSeen,
  type StatValue,
  statHistograms,
  statMetrics,
  TIME_HISTOGRAMS,
} from '@webloom/core'
import type { MetricFamily, MetricValue } from './metric-family.ts'

/** What was read of a crawl. What could not be read is absent, and so are its metrics. */
export interface CrawlReading {
  readonly status: CrawlStatus
  readonly filter?: FilterSeen | undefined
  readonly hosts?: HostsSeen | undefined
  readonly scale?: ScaleSeen | undefined
  /** The latest first. */
  readonly runs?: readonly RunSeen[] | undefined
}

/** Redis servers of a crawl that are told of; a dupefilter may be on many. */
const SERVERS_MAX = 16

/** Returns the counters and histograms that are made of stats. */
export function statFamilies(crawl: string, stats: Readonly<Record<string, StatValue>>): MetricFamily[] {
  const counters = statMetrics(stats).map(({ metric, series }): MetricFamily => {
    const { name, help, label } = metric
    const values = [...series].map(([value, count]) => ({
      labels: { crawl, ...(label !== undefined && { [label]: value }) },
      value: count,
    }))
    const labels = label === undefined ? ['crawl'] : ['crawl', label]
    return { name, help, type: 'counter', labels, values }
  })
  const seen = new Map(statHistograms(stats).map((times) => [times.name, times]))
  // One that is not counted is named all the same: whoever looks for it finds what to set.
  const histograms = TIME_HISTOGRAMS.map(({ name, help }): MetricFamily => {
    const times = seen.get(name)
    const values = times ? [{ labels: { crawl }, sum: times.sum, counts: times.counts }] : []
    const counted = `${help} Counted where METRICS_TIMES is true.`
    return { name, help: counted, type: 'histogram', labels: ['crawl'], values }
  })
  return [...counters, ...histograms]
}

/** Returns whether the Redis answered that has the crawl's record. */
export function upFamily(crawl: string, isUp: boolean): MetricFamily {
  return gauges(crawl).one(
    'webloom_up',
    'Whether the Redis of the crawl answered: 1 or 0. Of shards that did not, webloom_silent_shards tells.',
    isUp,
  )
}

/** Returns all metrics of a crawl. */
export function crawlFamilies(
  crawl: string,
  { status, filter, hosts, scale, runs }: CrawlReading,
): MetricFamily[] {
  return [
    upFamily(crawl, true),
    ...statFamilies(crawl, status.stats),
    ...runFamilies(crawl, status),
    ...workerFamilies(crawl, status),
    ...serverFamilies(crawl, status),
    ...(runs?.[0] ? [alertFamily(crawl, runs[0]), unsentFamily(crawl, runs[0])] : []),
    ...(filter ? filterFamilies(crawl, filter) : []),
    ...(scale ? scaleFamilies(crawl, scale) : []),
    ...(hosts ? [readyFamily(crawl, status, hosts), hostFamily(crawl, hosts)] : []),
  ]
}

function runFamilies(crawl: string, status: CrawlStatus): MetricFamily[] {
  const { one, by } = gauges(crawl)
  const { waiting, delayed, leased, quarantined } = status.counts
  const { atLeastMs, atThisRateMs } = status.timeLeft
  const seeds = status.seeds && {
    waiting: status.seeds.waiting,
    in_work: status.seeds.inWork,
    invalid: status.seeds.invalid,
  }
  return [
    by('webloom_run_state', 'The state of the crawl: 1 for the one it is in.', 'state', {
      ...only(CRAWL_STATES, status.state),
    }),
    one('webloom_paused', 'Whether the crawl is paused: 1 or 0.', status.paused),
    one('webloom_run_begin_timestamp_seconds', 'When the run began.', seconds(status.begunAt)),
    one('webloom_run_end_timestamp_seconds', 'When the run ended.', seconds(status.endedAt)),
    one(
      'webloom_silent_shards',
      'Shards of the queue that have not answered: what they hold is missing in the other figures.',
      status.silentShards.length,
    ),
    doneFamily(crawl, status),
    by('webloom_queue_requests', 'Requests in the queue, by state.', 'state', {
      waiting,
      delayed,
      leased,
      quarantined,
    }),
    by('webloom_limit', 'What keeps the crawl from going faster: 1 for that.', 'kind', {
      ...only(LIMIT_KINDS, status.limit.kind),
    }),
    by('webloom_time_left_seconds', 'How long the crawl still takes, as far as it is known.', 'bound', {
      at_least: atLeastMs === null ? null : atLeastMs / 1000,
      at_this_rate: atThisRateMs === null ? null : atThisRateMs / 1000,
    }),
    by('webloom_seeds', 'Start URLs from outside, by state.', 'state', seeds ?? {}),
    one('webloom_items_queued', 'Items that lie where the pipeline redis writes them.', status.itemsQueued),
  ]
}

function doneFamily(crawl: string, { done }: CrawlStatus): MetricFamily {
  const help = 'Requests that the run has finished, including those it gave up. Exact: Redis counts them.'
  const values = done === null ? [] : [{ labels: { crawl }, value: done }]
  return { name: 'webloom_done_requests_total', help, type: 'counter', labels: ['crawl'], values }
}

/** Of the run's record, so that it holds when the run has ended, and its workers with it. */
function alertFamily(crawl: string, { alerts = [] }: RunSeen): MetricFamily {
  const counts: Record<string, number> = {}
  for (const { id, resolvedAt } of alerts) {
    const monitor = id.split('/')[0]!
    counts[monitor] = (counts[monitor] ?? 0) + (resolvedAt === undefined ? 1 : 0)
  }
  const help = 'What monitors have found in the latest run and is not over, by monitor.'
  return gauges(crawl).by('webloom_run_alerts', help, 'monitor', counts)
}

function unsentFamily(crawl: string, { unsent = [] }: RunSeen): MetricFamily {
  const help = 'Messages about what monitors have found in the latest run that a receiver has not taken.'
  const count = unsent.reduce((all, { lost, waiting }) => all + lost + waiting, 0)
  return gauges(crawl).one('webloom_run_unsent_messages', help, count)
}

/** Of all workers together, as a label for each would be as many series as there were workers. */
function workerFamilies(crawl: string, status: CrawlStatus): MetricFamily[] {
  const { one, by } = gauges(crawl)
  const present = status.workers.filter(({ lost }) => !lost)
  const sum = (of: readonly number[]) => of.reduce((all, figure) => all + figure, 0)
  const largest = (of: readonly number[]) => (of.length > 0 ? Math.max(...of) : null)
  const lagMs = largest(present.map(({ loopLagMs }) => loopLagMs))
  return [
    by('webloom_workers', 'Workers by state. Blocked ones are present, too.', 'state', {
      present: present.length,
      lost: status.workers.length - present.length,
      blocked: present.filter(({ blocked }) => blocked).length,
    }),
    by('webloom_in_flight_requests', 'Requests that workers have, by what they do with them.', 'state', {
      downloading: sum(present.map(({ downloading }) => downloading)),
      scraping: sum(present.map(({ scraping }) => scraping)),
    }),
    one(
      'webloom_worker_loop_lag_seconds',
      'How late the event loop of a worker was, of that worker where it was latest.',
      lagMs === null ? null : lagMs / 1000,
    ),
    one(
      'webloom_worker_resident_memory_bytes',
      'Memory of the worker that has most.',
      largest(present.map(({ rssBytes }) => rssBytes)),
    ),
    one(
      'webloom_workers_cpu_cores',
      'Processors that all workers use together.',
      sum(present.map(({ cpuCores }) => cpuCores)),
    ),
  ]
}

function serverFamilies(crawl: string, { servers }: CrawlStatus): MetricFamily[] {
  // One that does not answer has no version.
  const told = servers.filter(({ version }) => version !== '').slice(0, SERVERS_MAX)
  const family = (name: string, help: string, figureOf: (server: (typeof told)[number]) => number) => ({
    name,
    help,
    type: 'gauge' as const,
    labels: ['crawl', 'server', 'roles'],
    values: told.map((server) => ({
      labels: { crawl, server: server.shown, roles: server.roles.join(',') },
      value: figureOf(server),
    })),
  })
  return [
    family('webloom_redis_used_bytes', 'Memory that a Redis server uses.', ({ usedBytes }) => usedBytes),
    family('webloom_redis_max_bytes', 'maxmemory of it; 0: no limit.', ({ maxBytes }) => maxBytes),
  ]
}

function filterFamilies(crawl: string, filter: FilterSeen): MetricFamily[] {
  const { one } = gauges(crawl)
  return [
    one('webloom_dupefilter_requests', 'Requests that the dupefilter knows.', filter.count),
    one(
      'webloom_dupefilter_capacity_requests',
      'Requests up to which it keeps its error rate.',
      filter.capacity,
    ),
    one('webloom_dupefilter_fill_ratio', 'Share of its bits that are set.', filter.fill),
    one(
      'webloom_dupefilter_error_ratio',
      'Share of new requests that it mistakes for seen ones at this moment.',
      filter.errorNow,
    ),
    one('webloom_dupefilter_lost_pages', 'Pages that were not fetched by that error.', filter.pagesLost),
    one('webloom_dupefilter_memory_bytes', 'Memory of it on Redis.', filter.memoryBytes),
  ]
}

function scaleFamilies(
  crawl: string,
  { desired, allowedPerSecond, perWorkerPerSecond }: ScaleSeen,
): MetricFamily[] {
  const { one } = gauges(crawl)
  return [
    one('webloom_workers_wanted', 'Workers that would help now, those that are present included.', desired),
    one(
      'webloom_allowed_requests_per_second',
      'Requests that the hosts allow all workers together to begin, over the next minute.',
      allowedPerSecond,
    ),
    one(
      'webloom_worker_responses_per_second',
      'Responses of a worker in full use: over the last ten seconds, or the most over the last ten minutes.',
      perWorkerPerSecond,
    ),
  ]
}

/** In QUEUE_MODE=job what must wait for its host does not wait in the queue. */
function readyFamily(
  crawl: string,
  { counts: { waiting } }: CrawlStatus,
  { totals }: HostsSeen,
): MetricFamily {
  return gauges(crawl).one(
    'webloom_ready_requests',
    'Requests that may go now and that no worker has: one of each host that may be asked and is with no worker.',
    totals ? Math.min(waiting, totals.ready) : waiting,
  )
}

/** Those in a list of what stands out are 200 at most; the rest are exact, and absent in QUEUE_MODE=job. */
function hostFamily(crawl: string, { lists, totals }: HostsSeen): MetricFamily {
  return gauges(crawl).by('webloom_hosts', 'Hosts by state; a host may be in several.', 'state', {
    failing: lists.failing.length,
    slow: lists.slowest.length,
    unanswered: lists.unanswered.length,
    given_up: lists.givenUp.length,
    paused: totals?.paused ?? lists.paused.length,
    with_line: totals?.withLine ?? null,
    ready: totals?.ready ?? null,
    later: totals?.later ?? null,
    held: totals?.held ?? null,
    hot: totals?.hot ?? null,
  })
}

type Figure = number | boolean | null

/** Makes gauges of a crawl. Those without a figure have no series. */
function gauges(crawl: string) {
  const value = (labels: Readonly<Record<string, string>>, figure: Figure): MetricValue[] =>
    figure === null ? [] : [{ labels: { crawl, ...labels }, value: Number(figure) }]
  return {
    one(name: string, help: string, figure: Figure): MetricFamily {
      return { name, help, type: 'gauge', labels: ['crawl'], values: value({}, figure) }
    },
    by(name: string, help: string, label: string, figures: Readonly<Record<string, Figure>>): MetricFamily {
      const values = Object.entries(figures).flatMap(([of, figure]) => value({ [label]: of }, figure))
      return { name, help, type: 'gauge', labels: ['crawl', label], values }
    },
  }
}

function only(all: readonly string[], chosen: string): Record<string, number> {
  return Object.fromEntries(all.map((one) => [one.replaceAll(' ', '_'), Number(one === chosen)]))
}

function seconds(moment: string | null): number | null {
  return moment === null ? null : Date.parse(moment) / 1000
}
