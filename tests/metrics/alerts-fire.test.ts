/** Each alert of `deploy/` fires when it should and not a moment before, as promtool plays it. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensurePrometheus, runProcess, tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { ALERTS } from './prometheus-crawl.ts'

interface Played {
  /** By series without job and crawl: a value a minute, as promtool writes them. */
  readonly series: Readonly<Record<string, string>>
  /** Minutes after the first value. */
  readonly quietAt: number
  /** Absent: it never does. */
  readonly firesAt?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly summary?: string
}

const RUNNING = { 'webloom_run_state{state="running"}': '1x60', webloom_paused: '0x60' }
/** The last page came after ten minutes. */
const STALLED = {
  ...RUNNING,
  webloom_pages_total: '0+10x10 100x50',
  'webloom_queue_requests{state="waiting"}': '5x60',
  'webloom_hosts{state="with_line"}': '3x60',
}
const GROWS = '0+10x60'

const ALERTS_PLAYED: readonly (Played & { readonly name: string; readonly severity: string })[] = [
  warning('WebloomDashboardAway', {
    series: { 'up{instance="d:6480"}': '1x5 0x20' },
    quietAt: 7,
    firesAt: 9,
    labels: { instance: 'd:6480' },
    summary: 'The dashboard at d:6480 does not answer, so no crawl is watched.',
  }),
  critical('WebloomRedisAway', {
    series: { webloom_up: '1x5 0x20' },
    quietAt: 5,
    firesAt: 8,
    summary: 'The Redis servers of crawl books do not answer.',
  }),
  critical('WebloomShardsSilent', {
    series: { webloom_silent_shards: '0x5 2x20' },
    quietAt: 5,
    firesAt: 8,
    summary: '2 shards of the queue of crawl books do not answer.',
  }),
  critical('WebloomNoWorkers', {
    series: { ...RUNNING, 'webloom_workers{state="present"}': '1x5 0x20' },
    quietAt: 7,
    firesAt: 9,
    labels: { state: 'present' },
    summary: 'Crawl books runs and has no worker.',
  }),
  warning('WebloomWorkersLost', {
    series: { ...RUNNING, 'webloom_workers{state="lost"}': '0x5 1x20' },
    quietAt: 5,
    firesAt: 8,
    labels: { state: 'lost' },
    summary: '1 workers of crawl books have no heartbeat.',
  }),
  warning('WebloomWorkersBlocked', {
    series: { 'webloom_workers{state="blocked"}': '0x5 1x20' },
    quietAt: 7,
    firesAt: 9,
    labels: { state: 'blocked' },
    summary: 'Callbacks block 1 workers of crawl books.',
  }),
  warning('WebloomLoopLag', {
    series: { webloom_worker_loop_lag_seconds: '0x5 2x20' },
    quietAt: 10,
    firesAt: 12,
    summary: 'A worker of crawl books is late by 2s.',
  }),
  critical('WebloomStalled', {
    series: STALLED,
    quietAt: 18,
    firesAt: 21,
    summary: 'Crawl books has requests that may go, and fetched no page for ten minutes.',
  }),
  critical('WebloomStalled', {
    series: { ...STALLED, 'webloom_hosts{state="later"}': '3x60' },
    quietAt: 50,
  }),
  warning('WebloomDownloadErrors', {
    series: { 'webloom_download_errors_total{kind="x"}': '0+3x30', webloom_requests_total: GROWS },
    quietAt: 5,
    firesAt: 12,
    summary: '30% of the requests of crawl books bring no response.',
  }),
  warning('WebloomRefused', {
    series: {
      'webloom_responses_total{status="503"}': '0+3x30',
      'webloom_responses_total{status="200"}': '0+7x30',
    },
    quietAt: 5,
    firesAt: 12,
    summary: 'Sites refuse 30% of the requests of crawl books.',
  }),
  warning('WebloomCallbacksThrow', {
    series: { webloom_spider_exceptions_total: '0+1x30', webloom_pages_total: GROWS },
    quietAt: 5,
    firesAt: 12,
    summary: 'Callbacks of crawl books throw for 10% of the pages.',
  }),
  warning('WebloomNoItems', {
    series: { webloom_items_total: '0+5x10 50x50', webloom_pages_total: GROWS },
    quietAt: 38,
    firesAt: 41,
    summary: 'Crawl books fetches pages and finds no items any more.',
  }),
  warning('WebloomMonitor', {
    series: { 'webloom_run_alerts{monitor="coverage"}': '0x5 1x10 0x10' },
    quietAt: 5,
    firesAt: 6,
    labels: { monitor: 'coverage' },
    summary: 'The latest run of crawl books does not bring what it must, says its monitor coverage.',
  }),
  warning('WebloomAlertsUnsent', {
    series: { webloom_run_unsent_messages: '0x5 1x20' },
    quietAt: 7,
    firesAt: 9,
    summary: '1 messages about the latest run of crawl books have reached nobody.',
  }),
  warning('WebloomScheduleFailed', {
    series: {
      'webloom_scheduled_runs_total{outcome="failed"}': '0x10 1x80',
      'webloom_scheduled_runs_total{outcome="begun"}': '0+1x90',
    },
    quietAt: 9,
    firesAt: 12,
    summary: 'A run of crawl books was due by its schedule, and cannot be.',
  }),
  critical('WebloomItemsLost', {
    series: { 'webloom_items_lost_total{where="feed"}': '0x10 1x20' },
    quietAt: 9,
    firesAt: 12,
    summary: 'Crawl books loses items.',
  }),
  warning('WebloomQuarantine', {
    series: { 'webloom_queue_requests{state="quarantined"}': '0x5 2x20' },
    quietAt: 5,
    firesAt: 8,
    labels: { state: 'quarantined' },
    summary: '2 requests of crawl books are in quarantine.',
  }),
  warning('WebloomRedisNearlyFull', {
    series: {
      'webloom_redis_used_bytes{server="r:6379"}': '50x5 90x20',
      'webloom_redis_max_bytes{server="r:6379"}': '100x30',
    },
    quietAt: 8,
    firesAt: 12,
    labels: { server: 'r:6379' },
    summary: 'Redis r:6379 of crawl books is full to 90%.',
  }),
  warning('WebloomDupefilterFull', {
    series: { webloom_dupefilter_requests: '5x5 20x20', webloom_dupefilter_capacity_requests: '10x30' },
    quietAt: 5,
    firesAt: 8,
    summary: 'The dupefilter of crawl books is beyond its capacity; new pages are taken for seen ones.',
  }),
  critical('WebloomDupefilterEmptied', {
    series: { 'webloom_events_total{event="dupefilter/emptied"}': '0x10 1x20' },
    quietAt: 9,
    firesAt: 12,
    summary: 'The dupefilter of crawl books has lost its data; pages are fetched again.',
  }),
]

test('each alert fires when it should, and not before', async () => {
  const names = [...readFileSync(ALERTS, 'utf8').matchAll(/alert: (\w+)/g)].map(([, name]) => name!)
  expect(new Set(ALERTS_PLAYED.map(({ name }) => name))).toEqual(new Set(names))
  await using folder = await tempDir()
  const file = join(folder.path, 'play.yml')
  writeFileSync(
    file,
    JSON.stringify({ rule_files: [ALERTS], evaluation_interval: '1m', tests: ALERTS_PLAYED.map(playOf) }),
  )
  const { promtool } = await ensurePrometheus()
  const { code, stdout, stderr } = await runProcess(promtool, ['test', 'rules', file])
  expect(code, stdout + stderr).toBe(0)
})

function playOf({
  name,
  severity,
  series,
  quietAt,
  firesAt,
  labels,
  summary,
}: (typeof ALERTS_PLAYED)[number]) {
  const isOfCrawl = !('up{instance="d:6480"}' in series)
  const own = isOfCrawl ? 'job="webloom",crawl="books"' : 'job="webloom"'
  const fired = {
    exp_labels: { job: 'webloom', ...(isOfCrawl && { crawl: 'books' }), ...labels, severity },
    exp_annotations: { summary },
  }
  const at = (minutes: number, alerts: readonly (typeof fired)[]) => ({
    eval_time: `${minutes}m`,
    alertname: name,
    exp_alerts: alerts,
  })
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([of, values]) => ({ series: labelled(of, own), values })),
    alert_rule_test: [at(quietAt, []), ...(firesAt === undefined ? [] : [at(firesAt, [fired])])],
  }
}

function labelled(series: string, own: string): string {
  return series.includes('{') ? series.replace('{', `{${own},`) : `${series}{${own}}`
}

function warning(name: string, played: Played) {
  return { name, severity: 'warning', ...played }
}

function critical(name: string, played: Played) {
  return { name, severity: 'critical', ...played }
}
