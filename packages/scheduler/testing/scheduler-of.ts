/** A scheduler that is asked without an engine: over a filter and a queue in memory where none are given. */

import { createFingerprinter, MemoryStatsCollector, Signals, silentLogger } from '@webloom/core'
import { MemoryDupeFilter } from '@webloom/dupefilter'
import { MemoryHostClock, MemoryRequestQueue } from '@webloom/queue'
import { Scheduler } from '../src/scheduler.ts'
import type { SchedulerOptions } from '../src/scheduler-options.ts'

export const UNPACED = { delayMs: 0, concurrency: 0, randomize: false }

export function unpacedClock(): MemoryHostClock {
  return new MemoryHostClock({ pace: UNPACED })
}

type Given = Partial<Omit<SchedulerOptions, 'stats'>>

export function schedulerOf(given: Given) {
  const stats = new MemoryStatsCollector()
  const scheduler = new Scheduler({
    fingerprinter: createFingerprinter(),
    signals: new Signals((_, error) => {
      throw error
    }),
    logger: silentLogger,
    spider: { name: 'test' },
    filter: new MemoryDupeFilter(),
    queue: new MemoryRequestQueue({ clock: unpacedClock() }),
    ...given,
    stats,
  })
  return { scheduler, stats }
}
