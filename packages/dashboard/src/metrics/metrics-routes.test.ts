import { DOWNLOAD_TIMES, MemoryStatsCollector, SERIES_PER_CRAWL_MAX, TimeHistogram } from '@webloom/core'
import { expect, test } from 'vitest'
import { STATUS } from '../../testing/made-up-crawl.ts'
import { MadeUpDesks } from '../../testing/made-up-desks.ts'
import { metricsRoutes } from './metrics-routes.ts'

const OPEN_METRICS = { headers: { accept: 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5' } }

async function scraped(desks: MadeUpDesks, init?: RequestInit): Promise<string> {
  const answer = await metricsRoutes({ desks }).request('/metrics', init)
  expect(answer.status).toBe(200)
  return answer.text()
}

const linesOf = (text: string, crawl = 'bookshops') =>
  text.split('\n').filter((line) => line.includes(`crawl="${crawl}"`))

function withStats(stats: Readonly<Record<string, number>>): MadeUpDesks {
  const desks = new MadeUpDesks()
  desks.status = { ...STATUS, stats }
  return desks
}

test('the figures of a crawl, of its stats and of this moment', async () => {
  const stats = { item_scraped_count: 12, 'downloader/response_status_count/404': 3 }
  const lines = linesOf(await scraped(withStats(stats)))
  for (const line of [
    'webloom_up{crawl="bookshops"} 1',
    'webloom_items_total{crawl="bookshops"} 12',
    'webloom_responses_total{crawl="bookshops",status="404"} 3',
    'webloom_responses_total{crawl="bookshops",status="200"} 0',
    'webloom_run_state{crawl="bookshops",state="running"} 1',
    'webloom_queue_requests{crawl="bookshops",state="waiting"} 184320',
    'webloom_done_requests_total{crawl="bookshops"} 121870',
    'webloom_workers{crawl="bookshops",state="lost"} 1',
    'webloom_worker_loop_lag_seconds{crawl="bookshops"} 1.84',
    'webloom_limit{crawl="bookshops",kind="hosts"} 1',
    'webloom_run_alerts{crawl="bookshops",monitor="coverage"} 1',
    'webloom_run_unsent_messages{crawl="bookshops"} 2',
    'webloom_hosts{crawl="bookshops",state="ready"} 41020',
    'webloom_dupefilter_capacity_requests{crawl="bookshops"} 10000000',
    `webloom_redis_max_bytes{crawl="bookshops",server="10.0.4.3:6379/0",roles="items"} ${2 ** 30}`,
  ])
    expect(lines).toContain(line)
})

test('runs of schedules by what became of them, also of a crawl that has never begun', async () => {
  const text = await scraped(new MadeUpDesks())
  expect(linesOf(text)).toContain('webloom_scheduled_runs_total{crawl="bookshops",outcome="going"} 2')
  expect(linesOf(text, 'never-begun')).toEqual([
    'webloom_scheduled_runs_total{crawl="never-begun",outcome="begun"} 0',
    'webloom_scheduled_runs_total{crawl="never-begun",outcome="resumed"} 1',
    'webloom_scheduled_runs_total{crawl="never-begun",outcome="going"} 2',
    'webloom_scheduled_runs_total{crawl="never-begun",outcome="failed"} 4',
  ])
})

test('what may go now: one request of each ready host, and all that wait where hosts have no lines', async () => {
  const desks = new MadeUpDesks()
  expect(linesOf(await scraped(desks))).toContain('webloom_ready_requests{crawl="bookshops"} 41020')
  desks.status = { ...STATUS, counts: { ...STATUS.counts, waiting: 7 } }
  expect(linesOf(await scraped(desks))).toContain('webloom_ready_requests{crawl="bookshops"} 7')
  // QUEUE_MODE=job
  desks.hostTotals = undefined
  desks.status = STATUS
  expect(linesOf(await scraped(desks))).toContain('webloom_ready_requests{crawl="bookshops"} 184320')
})

test('OpenMetrics for whoever asks for it, and the older text for others', async () => {
  const desks = new MadeUpDesks()
  const older = await metricsRoutes({ desks }).request('/metrics')
  expect(older.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(await older.text()).toContain('# TYPE webloom_items_total counter\n')
  const open = await metricsRoutes({ desks }).request('/metrics', OPEN_METRICS)
  expect(open.headers.get('content-type')).toMatch(/^application\/openmetrics-text; version=1\.0\.0/)
  const text = await open.text()
  expect(text).toContain('# TYPE webloom_items counter\n')
  expect(text).toMatch(/^webloom_items_total\{crawl="bookshops"\} \d+$/m)
  expect(text.endsWith('\n# EOF\n')).toBe(true)
})

test('each metric has one place, and no series is there twice', async () => {
  for (const init of [{}, OPEN_METRICS]) {
    const lines = (await scraped(new MadeUpDesks(), init)).split('\n').filter((line) => line !== '')
    const named = lines.map((line) => (line.startsWith('#') ? line : line.replace(/ \S+$/, '')))
    expect(new Set(named).size).toBe(named.length)
  }
})

test('a histogram that is not counted says what to set', async () => {
  const text = await scraped(withStats({}))
  expect(text).toMatch(/^# HELP webloom_download_seconds .* METRICS_TIMES is true\.$/m)
  expect(text).not.toContain('webloom_download_seconds_')
})

test('a histogram has buckets that add up', async () => {
  const stats = new MemoryStatsCollector()
  const times = new TimeHistogram(DOWNLOAD_TIMES, stats)
  for (const ms of [10, 20, 200, 1_000_000]) times.add(ms)
  const lines = linesOf(await scraped(withStats(stats.snapshot() as Record<string, number>)))
  const name = 'webloom_download_seconds'
  for (const line of [
    `${name}_bucket{crawl="bookshops",le="0.025"} 2`,
    `${name}_bucket{crawl="bookshops",le="0.1"} 2`,
    `${name}_bucket{crawl="bookshops",le="0.25"} 3`,
    `${name}_bucket{crawl="bookshops",le="180"} 3`,
    `${name}_bucket{crawl="bookshops",le="+Inf"} 4`,
    `${name}_count{crawl="bookshops"} 4`,
  ])
    expect(lines).toContain(line)
  expect(lines.find((line) => line.startsWith(`${name}_sum`))).toMatch(/ 1000\.2/)
})

test('a crawl has 400 series at the most, whatever it meets', async () => {
  const stats: Record<string, number> = { 'download_time/seconds': 1, 'callback_time/seconds': 1 }
  const families = [
    'downloader/response_status_count',
    'downloader/protection',
    'failed/reason_count',
    'trap',
  ]
  for (let n = 0; n < 2000; n++) for (const family of families) stats[`${family}/${n}`] = 1
  const desks = withStats(stats)
  const server = desks.status.servers[0]!
  const servers = Array.from({ length: 100 }, (_, n) => ({ ...server, shown: `10.0.0.${n}:6379/0` }))
  desks.status = { ...desks.status, servers }
  const lines = linesOf(await scraped(desks))
  expect(lines.length).toBeGreaterThan(200)
  expect(lines.length).toBeLessThanOrEqual(SERIES_PER_CRAWL_MAX)
})

test('a crawl whose Redis does not answer is down, and is up when it is back', async () => {
  const desks = new MadeUpDesks()
  expect(linesOf(await scraped(desks), 'far')).toEqual(['webloom_up{crawl="far"} 0'])
  desks.trouble = 'Redis at 10.0.4.2:6379/0 cannot be reached'
  expect(linesOf(await scraped(desks))).toEqual(['webloom_up{crawl="bookshops"} 0'])
  desks.trouble = undefined
  expect(linesOf(await scraped(desks))).toContain('webloom_up{crawl="bookshops"} 1')
})

test('shards and servers that do not answer are counted, and take no other figure with them', async () => {
  const desks = new MadeUpDesks()
  const [one] = STATUS.servers
  const silentShards = [{ shard: '02', server: '10.0.4.4:6379' }]
  const away = { ...one!, shown: '10.0.4.4:6379', version: '', warnings: ['it does not answer'] }
  desks.status = { ...STATUS, silentShards, servers: [one!, away] }
  const lines = linesOf(await scraped(desks))
  expect(lines).toContain('webloom_up{crawl="bookshops"} 1')
  expect(lines).toContain('webloom_silent_shards{crawl="bookshops"} 1')
  expect(lines.filter((line) => line.startsWith('webloom_redis_used_bytes'))).toHaveLength(1)
})

test('several that scrape at one moment cost one look, and have the same figures', async () => {
  const desks = new MadeUpDesks()
  const app = metricsRoutes({ desks })
  const texts = await Promise.all(
    Array.from({ length: 5 }, async () => (await app.request('/metrics')).text()),
  )
  expect(new Set(texts).size).toBe(1)
  // Its status, its filter, its hosts, its runs, and how many workers would help.
  expect(desks.looks).toBe(5)
})
