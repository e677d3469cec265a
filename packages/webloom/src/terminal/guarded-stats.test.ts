import { MemoryStatsCollector, type StatValue } from '@webloom/core'
import { expect, test } from 'vitest'
import { guardStats } from './guarded-stats.ts'
import { createLogger } from './logger.ts'

/** The log of a crawl: each line is counted by the collector. */
function logOf(stats: MemoryStatsCollector) {
  const lines: string[] = []
  const tellTo = guardStats(stats)
  const destination = { write: (line: string) => lines.push(line) > 0, isTTY: false }
  const logger = createLogger({ stats, format: 'json', destination: destination as never })
  tellTo(logger)
  return { lines, logger, tellTo }
}

test('an inc that is async and rejects is told once, though each line of the log is counted by it', async () => {
  class Remote extends MemoryStatsCollector {
    override async inc(): Promise<void> {
      throw new Error('no connection')
    }
  }
  const stats = new Remote()
  const { lines, logger } = logOf(stats)
  for (let n = 0; n < 3; n++) {
    logger.info('a line')
    await new Promise(setImmediate)
  }
  expect(lines.filter((line) => line.includes('STATS_CLASS Remote: inc() answered a Promise'))).toHaveLength(
    1,
  )
  expect(lines.filter((line) => line.includes('no connection'))).toHaveLength(1)
  expect(lines).toHaveLength(5)
})

test('one that throws is told once, by its class and method, and the crawl goes on', () => {
  class Broken extends MemoryStatsCollector {
    override inc(key: string): void {
      if (key === 'pages') throw new Error('down')
      super.inc(key)
    }
    override snapshot(): Record<string, StatValue> {
      throw new Error('no snapshot')
    }
  }
  const stats = new Broken()
  const { lines } = logOf(stats)
  for (let n = 0; n < 3; n++) stats.inc('pages')
  stats.inc('items')
  expect([stats.get('items'), stats.snapshot()]).toEqual([1, {}])
  expect(lines).toHaveLength(2)
  expect(lines[0]).toContain('STATS_CLASS Broken: inc() failed')
  expect(lines[1]).toContain('STATS_CLASS Broken: snapshot() failed')
})

test('what fails before there is a log is told when there is one', () => {
  class Broken extends MemoryStatsCollector {
    override set(): void {
      throw new Error('down')
    }
  }
  const stats = new Broken()
  const lines: string[] = []
  const tellTo = guardStats(stats)
  stats.set()
  const destination = { write: (line: string) => lines.push(line) > 0, isTTY: false }
  tellTo(createLogger({ stats, format: 'json', destination: destination as never }))
  expect(lines).toHaveLength(1)
})
