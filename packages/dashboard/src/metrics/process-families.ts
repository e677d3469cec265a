/** What a process tells of itself, under the names that Prometheus's clients have for it. */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { MetricFamily } from './metric-family.ts'

const NS_PER_S = 1e9
const US_PER_S = 1e6
// What Node measures is the time from one look to the next: a loop that is never late has this.
const LOOK_EVERY_MS = 10

/** Watches the event loop from when it is made until `close`. */
export class ProcessMetrics {
  readonly #startedAtS = Date.now() / 1000 - process.uptime()
  readonly #delay = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS })

  constructor() {
    this.#delay.enable()
  }

  /** Lags are those since the scrape before. */
  families(): MetricFamily[] {
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed, external } = process.memoryUsage()
    const [longest, median] = [this.#delay.max, this.#delay.percentile(50)].map(lateS)
    this.#delay.reset()
    return [
      one('counter', 'process_cpu_seconds_total', 'Time on processors.', (user + system) / US_PER_S),
      one('gauge', 'process_start_time_seconds', 'When the process was started.', this.#startedAtS),
      one('gauge', 'process_resident_memory_bytes', 'Memory of the process.', rss),
      one('gauge', 'nodejs_heap_size_used_bytes', 'Heap that is used.', heapUsed),
      one('gauge', 'nodejs_external_memory_bytes', 'Memory outside of the heap, such as bodies.', external),
      one('gauge', 'nodejs_eventloop_lag_p50_seconds', 'How late the event loop is, median.', median!),
      one('gauge', 'nodejs_eventloop_lag_max_seconds', 'How late it was at the most.', longest!),
    ]
  }

  close(): void {
    this.#delay.disable()
  }
}

/** Returns by how much the time between two looks was longer than it should be, in seconds; 0 before the first look. */
function lateS(ns: number): number {
  return Math.max(0, ns / NS_PER_S - LOOK_EVERY_MS / 1000)
}

function one(type: 'counter' | 'gauge', name: string, help: string, value: number): MetricFamily {
  return { name, help, type, labels: [], values: [{ labels: {}, value }] }
}
