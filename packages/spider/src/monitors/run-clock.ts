/** For how long a run is crawled: the time in which it was stopped, paused or without workers is no time in which it brought nothing. */

import type { RunClock, RunLook } from '@webloom/core'

export function clockAt(
  before: RunClock | undefined,
  { run, atMs, runningSinceMs }: Pick<RunLook, 'run' | 'atMs' | 'runningSinceMs'>,
  isPaused: boolean,
): RunClock {
  const nowMs = run.endedAt ? Date.parse(run.endedAt) : atMs
  const fromMs = before && isSamePart(before, runningSinceMs) ? before.lookedAtMs : runningSinceMs
  const passedMs = isPaused ? 0 : Math.max(0, nowMs - fromMs)
  const { ranMs = 0, quietMs = 0, items = 0 } = before ?? {}
  return {
    sinceMs: runningSinceMs,
    lookedAtMs: nowMs,
    ranMs: ranMs + passedMs,
    items: run.items,
    quietMs: run.items === items ? quietMs + passedMs : 0,
  }
}

/** False: the run was resumed since. */
export function isSamePart(clock: RunClock | undefined, runningSinceMs: number): boolean {
  return clock?.sinceMs === runningSinceMs
}
