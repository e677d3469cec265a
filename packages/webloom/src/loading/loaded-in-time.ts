/** What an author wrote is loaded here: a person is told what the command waits for, and the wait has an end. */

import { visible } from '../terminal/sanitize.ts'

/** The longest that it takes to load a file, and to try a worker, unless COMPONENT_TIMEOUT is less. */
export const LOADING_MS_MAX = 60_000
/** By then a person wonders. */
const TOLD_AFTER_MS = 5000

export interface LoadTimes {
  readonly toldAfterMs?: number
  readonly timeoutMs?: number
}

/** It was given up. Its message is for whoever wrote what was loaded. */
export class NotLoadedInTime extends Error {}

/** What is under way, for the last words of a process that ends meanwhile. */
const underWay = new Set<{ readonly what: string }>()

/**
 * Settles as `work` does; rejects with `NotLoadedInTime` after a bound. Says on standard error that it waits, some seconds after it has begun,
 * and when the process ends before, as nothing could settle it any more.
 *
 * @param what has not settled, as the beginning of a sentence: `list() has not settled`
 */
export async function loadedInTime<T>(
  what: string,
  work: Promise<T>,
  { toldAfterMs = TOLD_AFTER_MS, timeoutMs = LOADING_MS_MAX }: LoadTimes = {},
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  // Unreferenced: where nothing is left that could settle it, Node ends the process at once.
  const timers = [
    setTimeout(
      () => tell(`${what} after ${seconds(toldAfterMs)}; it is given up after ${seconds(timeoutMs)}`),
      toldAfterMs,
    ).unref(),
    setTimeout(() => reject(new NotLoadedInTime(`${what} within ${seconds(timeoutMs)}`)), timeoutMs).unref(),
  ]
  const entry = { what }
  if (underWay.size === 0) process.on('exit', tellUnderWay)
  underWay.add(entry)
  try {
    return await Promise.race([work, late])
  } finally {
    for (const timer of timers) clearTimeout(timer)
    underWay.delete(entry)
    if (underWay.size === 0) process.off('exit', tellUnderWay)
  }
}

function tellUnderWay(): void {
  for (const { what } of underWay) tell(what)
}

function tell(text: string): void {
  console.error(visible(`webloom: ${text}`))
}

function seconds(ms: number): string {
  return `${ms / 1000} s`
}
