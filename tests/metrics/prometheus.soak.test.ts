/** Each alert, asked of a real Prometheus that scrapes a real crawl. */

import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { WITHIN } from '../dashboard/dash-processes.ts'
import { ALERTS, seriesCount, startScraping, startWatchedCrawl } from './prometheus-crawl.ts'

test('a crawl that is well has no alert, and one whose only worker was killed has', async () => {
  await using crawl = await startWatchedCrawl(20_000, 20)
  await using prometheus = await startScraping(crawl)
  const count = (query: string) => seriesCount(prometheus, query)
  await vi.waitFor(async () => expect(await count('rate(webloom_pages_total[10s]) > 0')).toBe(1), WITHIN)

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
