/**
 * For how long a run is crawled: the time in which it was stopped, paused, without workers, or waited for a budget of the next day is no
 * time in which it brought nothing.
 */

import type { RunClock, RunLook } from '@webloom/core'

export function clockAt(
  before: RunClock | undefined,
  { run, atMs, runningSinceMs, stats }: Pick<RunLook, 'run' | 'atMs' | 'runningSinceMs' | 'stats'>,
  isPaused: boolean,
): RunClock {
  const nowMs = run.endedAt ? Date.parse(run.endedAt) : atMs
  const fromMs = before && isSamePart(before, runningSinceMs) ? before.lookedAtMs : runningSinceMs
  const sentBackNow = Number(stats['budgets/waited'] ?? 0)
  const isStill = before?.requests === run.requests
  // Some may have been sent back at the moment at which the latest left.
  const sentBack = isStill ? (before.sentBack ?? 0) : (before?.sentBackNow ?? 0)
  const isWaiting = isStill && sentBackNow > sentBack
  const passedMs = isPaused || isWaiting ? 0 : Math.max(0, nowMs - fromMs)
  const { ranMs = 0, quietMs = 0, items = 0 } = before ?? {}
  return {
    sinceMs: runningSinceMs,
    lookedAtMs: nowMs,
    ranMs: ranMs + passedMs,
    ...{ requests: run.requests, sentBack, sentBackNow },
    items: run.items,
    quietMs: run.items === items ? quietMs + passedMs : 0,
  }
}

/** False: the run was resumed since. */
export function isSamePart(clock: RunClock | undefined, runningSinceMs: number): boolean {
  return clock?.sinceMs === runningSinceMs
}
