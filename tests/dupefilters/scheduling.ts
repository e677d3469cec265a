/** A scheduler over a real filter and queue, asked without an engine. */

import {
  createFingerprinter,
  type DupeFilter,
  type Lease,
  MemoryStatsCollector,
  type RequestQueue,
  Signals,
  scaledTimes,
  silentLogger,
} from '@webloom/core'
import { Scheduler } from '../../packages/scheduler/src/scheduler.ts'

export const SCHEDULER_TIMES = scaledTimes(0.1)

export function schedulerOf(filter: DupeFilter, queue: RequestQueue) {
  const stats = new MemoryStatsCollector()
  const scheduler = new Scheduler({
    filter,
    queue,
    fingerprinter: createFingerprinter(),
    stats,
    signals: new Signals(() => {}),
    logger: silentLogger,
    spider: { name: 'test' },
    times: SCHEDULER_TIMES,
  })
  return { scheduler, stats, filter, queue }
}

/** Leases until it has so many requests. Returns them by path. */
export async function leased(scheduler: Scheduler, count: number): Promise<Map<string, Lease>> {
  const leases = new Map<string, Lease>()
  while (leases.size < count) {
    for (const lease of await scheduler.next(count - leases.size))
      leases.set(new URL(lease.request.url).pathname.slice(1), lease)
  }
  return leases
}

/** Fetches all that is left, as pages without links. Returns their paths. */
export async function fetchedRest(scheduler: Scheduler, until: AbortSignal): Promise<string[]> {
  const fetched: string[] = []
  while (!(await scheduler.isEmpty(until))) {
    for (const lease of await scheduler.next(8, until)) {
      fetched.push(new URL(lease.request.url).pathname.slice(1))
      await scheduler.commit(lease, [])
    }
  }
  return fetched.sort()
}
