/** Each panel of the dashboard for Grafana, and each alert, asked of a real Prometheus that scrapes a real crawl. */

import { readFileSync } from 'node:fs'
import { startPrometheus } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { WITHIN } from '../dashboard/dash-processes.ts'
import { ALERTS, panelQueries, startWatchedCrawl } from './prometheus-crawl.ts'

/** Nothing of the kind happens in this crawl. */
const MAY_BE_EMPTY = new Set(['Tries without a response, by kind'])

interface Answer {
  readonly result: readonly unknown[]
}

test('every panel has data, a crawl that is well has no alert, and one whose only worker was killed has', async () => {
  await using crawl = await startWatchedCrawl(20_000, 20)
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [ALERTS],
    scrape_configs: [{ job_name: 'webloom', static_configs: [{ targets: [new URL(crawl.url).host] }] }],
  }
  await using prometheus = await startPrometheus(JSON.stringify(config))
  const queries = panelQueries('pages', '10s')
  const count = async (query: string) => ((await prometheus.ask('query', { query })) as Answer).result.length
  await vi.waitFor(async () => {
    const counts = await Promise.all(
      queries.map(async ({ title, query }) => ({ title, query, series: await count(query) })),
    )
    const empty = counts.filter(({ title, series }) => series === 0 && !MAY_BE_EMPTY.has(title))
    expect(empty).toEqual([])
  }, WITHIN)

  const expressions = [
    ...readFileSync(ALERTS, 'utf8').matchAll(/expr: (?:>-\n)?([\s\S]*?)\n +(?:for|labels):/g),
  ]
  expect(expressions.length).toBeGreaterThan(10)
  for (const [, expression] of expressions) expect(await count(expression!), expression).toBe(0)
  crawl.worker.kill('SIGKILL')
  const withoutWorkers = expressions.find(([, expression]) => expression!.includes('"present"} == 0'))![1]!
  await vi.waitFor(async () => expect(await count(withoutWorkers)).toBe(1), WITHIN)

  const { groups } = (await prometheus.ask('rules')) as {
    groups: { rules: { name: string; health: string }[] }[]
  }
  const bad = groups.flatMap(({ rules }) => rules.filter(({ health }) => health === 'err'))
  expect(bad).toEqual([])
})
