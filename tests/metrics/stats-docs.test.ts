/** docs/stats.md and the table of metrics: neither has a stat that the other does not know. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NO_METRIC, STAT_METRICS } from '../../packages/core/src/metrics/metrics-table.ts'
import { shownSeries } from '../../packages/core/src/metrics/stat-metrics.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/stats.md'), 'utf8')
const rows = [...page.matchAll(/^\| (`.*?) \| .* \| (.*?) \|$/gm)].map(([, keys, metrics]) => ({
  stats: [...keys!.matchAll(/`([^`]+)`/g)].map(([, stat]) => stat!),
  metrics: metrics!,
}))

test('each row of docs/stats.md has the metric that is made of its stats', () => {
  expect(rows.length).toBeGreaterThan(100)
  for (const { stats, metrics } of rows) {
    const shown = stats.map((stat) => shownSeries(stat)).map((series) => (series ? `\`${series}\`` : '–'))
    expect(metrics, stats.join()).toBe([...new Set(shown)].join(', '))
  }
})

test('a stat is a metric or is known to be none', () => {
  const known = new Set(Object.keys(NO_METRIC))
  for (const stat of rows.flatMap(({ stats }) => stats))
    expect(shownSeries(stat) !== undefined || known.has(stat), stat).toBe(true)
})

test('each stat of the table of metrics has a row in docs/stats.md', () => {
  const told = new Set(rows.flatMap(({ stats }) => stats))
  const stats = STAT_METRICS.flatMap(({ from }) => from.map(({ stat }) => stat))
  // A `<…>` has another word in another row: `<range>_address`.
  for (const stat of [...stats, ...Object.keys(NO_METRIC)]) expect(told, stat).toContain(stat)
})
