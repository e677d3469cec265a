import { setTimeout as sleep } from 'node:timers/promises'
import { type ErrorCode, type Logger, type ProtocolTimes, WebloomError } from '@webloom/core'

// What a server says that cannot do its work now and will be able to: it restarts, fails over, is full, or is busy.
const PASSING =
  /^(OOM|BUSY|LOADING|READONLY|TRYAGAIN|CLUSTERDOWN|MASTERDOWN|MISCONF|NOREPLICAS)\b|reached its maxmemory|Connection is closed|Command timed out|Socket timeout|ECONNRESET|EPIPE/
/** There is no room now; others make some, or somebody raises maxmemory. */
const FULL: readonly ErrorCode[] = ['WL_QUEUE_FULL', 'WL_DUPEFILTER_FULL']

/** A wait that lasts is told of again and again. */
const TELL_EVERY_MS = 30_000

export interface Patience {
  readonly logger: Logger
  readonly times: Pick<ProtocolTimes['scheduler'], 'waitMsMin' | 'waitMsMax'>
  /** For the log: what waits. */
  readonly what: string
  /** Fires when there is no point in trying on. */
  readonly signal?: AbortSignal
  /** Throws the server's answer after that time. Default: waits as long as it takes. */
  readonly forMs?: number
}

/**
 * Runs a step that may be repeated until the server can do it: a crawl waits for a Redis that is away or full, and loses
 * nothing. Rejects at once with any other error.
 */
export async function patiently<T>(step: () => Promise<T>, patience: Patience): Promise<T> {
  const { logger, times, what, signal, forMs = Number.POSITIVE_INFINITY } = patience
  const startedAt = performance.now()
  let toldAt = Number.NEGATIVE_INFINITY
  for (let waitMs = times.waitMsMin; ; waitMs = Math.min(waitMs * 2, times.waitMsMax)) {
    try {
      return await step()
    } catch (error) {
      const now = performance.now()
      if (!isPassing(error) || signal?.aborted || now - startedAt >= forMs) throw error
      if (now - toldAt >= TELL_EVERY_MS) {
        toldAt = now
        logger.warn({ reason: (error as Error).message }, `${what} must wait; it is tried again`)
      }
      await sleep(waitMs, undefined, signal && { signal }).catch(() => {})
    }
  }
}

/** Whether the same step may succeed later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof WebloomError) return FULL.includes(error.code)
  return error instanceof Error && PASSING.test(error.message)
}
