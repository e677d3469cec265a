/** A run as the workers of one crawl share it, and their monitors. */

import {
  MemoryStatsCollector,
  type MonitorNotes,
  NO_NOTES,
  type Notification,
  type RunLog,
  type RunSeen,
  silentLogger,
} from '@webloom/core'
import { CrawlMonitors, type CrawlMonitorsOptions } from '../src/monitors/crawl-monitors.ts'

const FIGURES = {
  requests: 0,
  pages: 9,
  errors: 0,
  givenUp: 0,
  filtered: 0,
  bytes: 0,
  statuses: {},
  fields: {},
}
export const RUN: RunSeen = {
  ...FIGURES,
  run: 'r1',
  state: 'running',
  begunAt: new Date().toISOString(),
  items: 0,
}

/** What the workers of one crawl share. */
export class SharedRun implements RunLog {
  run = RUN
  stats: Record<string, unknown> = {}
  isWhole = false
  notes: MonitorNotes = NO_NOTES
  looks = 0
  states = 0
  #endedMs = 0

  async look() {
    this.looks++
    return {
      run: this.run,
      past: [],
      stats: this.stats as never,
      atMs: Date.now(),
      runningSinceMs: Date.parse(RUN.begunAt),
    }
  }

  async state() {
    this.states++
    const { run, state, endedAt, finishReason } = this.run
    return {
      run,
      state,
      ...(endedAt && { endedAt }),
      ...(finishReason && { finishReason }),
      isWhole: this.isWhole,
    }
  }

  async change<T>(_run: string, change: (notes: MonitorNotes, nowMs: number) => readonly [MonitorNotes, T]) {
    const [notes, result] = change(this.notes, Date.now())
    this.notes = JSON.parse(JSON.stringify(notes)) as MonitorNotes
    return result
  }

  /** Each end has another time: by that they are told apart. */
  end(finishReason = 'finished', items = 1) {
    this.#endedMs = Math.max(Date.now(), this.#endedMs + 1)
    const endedAt = new Date(this.#endedMs).toISOString()
    this.run = {
      ...RUN,
      state: finishReason === 'finished' ? 'finished' : 'stopped',
      finishReason,
      endedAt,
      items,
    }
    this.isWhole = true
  }

  resume() {
    this.run = RUN
    this.isWhole = false
  }
}

export const EXPECTED = { items: { min: 100 }, coverage: { price: 0.9 } }

/** A receiver, and workers that tell it. */
export function crawl(options: Partial<CrawlMonitorsOptions> = {}) {
  const log = new SharedRun()
  const got: Notification[] = []
  const stats = new MemoryStatsCollector()
  const receiver = {
    name: 'test',
    send: async (notification: Notification) => void got.push(notification),
    close: async () => {},
  }
  const worker = (name: string, more: Partial<CrawlMonitorsOptions> = {}) => {
    const monitors = new CrawlMonitors({
      monitors: EXPECTED,
      runLog: log,
      worker: name,
      spider: 'quotes',
      channels: [receiver],
      stats,
      logger: silentLogger,
      timeoutMs: 1000,
      holdMs: 150,
      firstPauseMs: 1,
      ...options,
      ...more,
    })
    monitors.joined()
    return monitors
  }
  return { log, got, stats, worker, receiver }
}
