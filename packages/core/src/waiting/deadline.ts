/** The longest time that a timer takes, milliseconds: Node counts in 32 bits, and a longer timer fires at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1
/** The same in whole seconds, for settings and fields that are written so. */
export const TIMER_SECONDS_MAX = Math.floor(TIMER_MS_MAX / 1000)

/**
 * Settles as `work` does. Rejects with `late()` when that takes longer than `ms`, and with the reason of `signal` when that fires,
 * or has fired. The work itself goes on, and its result is ignored.
 *
 * Written with one promise, as each page of a broad crawl waits so: an async function with `Promise.race` costs twice as much.
 */
export function withDeadline<T>(
  ms: number,
  work: Promise<T>,
  late: () => Error,
  signal?: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const over = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    const onLate = () => {
      over()
      reject(late())
    }
    const onAbort = () => {
      over()
      reject(signal?.reason)
    }
    const timer = setTimeout(onLate, timerMs(ms))
    // An author's step may be none, whatever its type says.
    Promise.resolve(work).then(
      (result) => {
        over()
        resolve(result)
      },
      (error) => {
        over()
        reject(error)
      },
    )
    if (signal?.aborted) onAbort()
    else signal?.addEventListener('abort', onAbort)
  })
}

/** Thrown when something took longer than it may. */
export class NoAnswer extends Error {}

/** Settles as `work` does. Rejects with `NoAnswer` when that takes longer than `ms`; the work itself goes on. */
export function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  return withDeadline(ms, work, () => new NoAnswer(`${what}: no answer for ${ms} ms`))
}

/** Resolves when `work` has ended, with or without an error, or after `ms`. */
export async function waitAtMost(ms: number, work?: Promise<unknown>): Promise<void> {
  const timeout = Promise.withResolvers<void>()
  const timer = setTimeout(timeout.resolve, timerMs(ms))
  await Promise.race(work ? [timeout.promise, work.catch(() => {})] : [timeout.promise])
  clearTimeout(timer)
}

/** Returns the time, bounded to what a timer takes. */
export function timerMs(ms: number): number {
  return Math.min(Math.max(0, ms), TIMER_MS_MAX)
}
