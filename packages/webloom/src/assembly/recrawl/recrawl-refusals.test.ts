import { MemoryStatsCollector, runFigures, Settings } from '@webloom/core'
import { expect, test } from 'vitest'
import { createLogger } from '../../terminal/logger.ts'
import { Screen } from '../../terminal/screen.ts'
import { warnOfRecrawl } from './recrawl-refusals.ts'

test('advice on monitors that count items is told in each run, and is no WARNING that a monitor judges', () => {
  const stats = new MemoryStatsCollector()
  const lines: string[] = []
  const destination = new Screen({ isTTY: false, write: (line: string) => lines.push(line) > 0 })
  const crawler = { settings: Settings.fromLayers({}), logger: createLogger({ stats, destination }), stats }
  const monitors = { items: { min: 1 }, warnings: 0 }
  warnOfRecrawl(crawler, { kind: 'adaptive', monitors, isOnRedis: true, ends: true })
  expect(lines.join('')).toContain('the monitor items.min counts the items that are written')
  expect(stats.get('log_count/WARNING')).toBe(1)
  expect(runFigures(stats.snapshot()).warnings).toBe(0)
})
