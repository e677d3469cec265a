/** What `deploy/` has for Prometheus and Grafana, and a real crawl's metrics, as promtool judges them. */

import { readFileSync } from 'node:fs'
import { STAT_METRICS, TIME_HISTOGRAMS } from '@webloom/core'
import { ensurePrometheus, runProcess } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { WITHIN } from '../dashboard/dash-processes.ts'
import {
  ALERTS,
  dashboard,
  PROMETHEUS_CONFIG,
  panelQueries,
  seriesCount,
  startScraping,
  startWatchedCrawl,
} from './prometheus-crawl.ts'

async function promtool(words: readonly string[], input = ''): Promise<string> {
  const { promtool: program } = await ensurePrometheus()
  const { code, stdout, stderr } = await runProcess(program, words, { input })
  expect(code, stdout + stderr).toBe(0)
  return stdout + stderr
}

test('the rules of alerts and the configuration are good', async () => {
  expect(await promtool(['check', 'rules', ALERTS])).toContain('SUCCESS')
  await promtool(['check', 'config', '--syntax-only', PROMETHEUS_CONFIG])
})

/** Nothing of the kind happens in this crawl. */
const MAY_BE_EMPTY = new Set(['Tries without a response, by kind'])

test('the metrics of a real crawl are good, each that rules and panels name is there, and every panel has data', async () => {
  await using crawl = await startWatchedCrawl(4000, 200)
  const scraped = async () => (await fetch(`${crawl.url}metrics`)).text()
  await vi.waitFor(
    async () =>
      expect(await scraped(), crawl.worker.stderr).toMatch(
        /^webloom_callback_seconds_count\{crawl="pages"\} [1-9]/m,
      ),
    WITHIN,
  )
  const text = await scraped()
  expect(await promtool(['check', 'metrics'], text)).toBe('')
  const queries = [...panelQueries('pages', '1m').map(({ query }) => query), readFileSync(ALERTS, 'utf8')]
  const named = queries.flatMap((query) => [...query.matchAll(/\bwebloom_\w+/g)].map(([name]) => name))
  // A filter without a bound has no capacity, and gauges without a figure have no series.
  for (const name of new Set(named))
    expect(text).toMatch(new RegExp(`^# TYPE ${name.replace(/_bucket$/, '')} `, 'm'))
  await using prometheus = await startScraping(crawl)
  const emptyPanels = async () => {
    const panels = panelQueries('pages', '10s').filter(({ title }) => !MAY_BE_EMPTY.has(title))
    const counts = await Promise.all(panels.map(({ query }) => seriesCount(prometheus, query)))
    return panels.filter((_, n) => counts[n] === 0)
  }
  await vi.waitFor(async () => expect(await emptyPanels()).toEqual([]), WITHIN)
})

test('the docs tell of each alert', () => {
  const page = readFileSync(`${import.meta.dirname}/../../docs/operate.md`, 'utf8')
  const alerts = [...readFileSync(ALERTS, 'utf8').matchAll(/alert: (\w+)/g)].map(([, name]) => name!)
  expect(alerts.length).toBeGreaterThan(10)
  const told = [...page.matchAll(/^\| `(Webloom\w+)` \|/gm)].map(([, name]) => name!)
  expect(told.toSorted()).toEqual(alerts.toSorted())
})

test('the dashboard has a title for each panel, and no metric that is none', () => {
  const names = [...STAT_METRICS, ...TIME_HISTOGRAMS].map(({ name }) => name)
  expect(new Set(dashboard.panels.map(({ title }) => title)).size).toBe(dashboard.panels.length)
  const totals = panelQueries('x', '1m').flatMap(({ query }) =>
    [...query.matchAll(/\bwebloom_\w+_total\b/g)].map(([name]) => name),
  )
  for (const name of totals) expect(names).toContain(name)
})
