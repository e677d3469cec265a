import { setTimeout as sleep } from 'node:timers/promises'
import { type Lease, type Logger, type ProtocolTimes, storeTrouble } from '@webloom/core'

/** How often a wait that lasts is logged. */
export const TELL_EVERY_MS = 30_000

export interface Patience {
  readonly logger: Logger
  readonly times: Pick<ProtocolTimes['scheduler'], 'waitMsMin' | 'waitMsMax'>
  /** What waits, for the log. */
  readonly what: string
  /** Fires when further tries have no point. */
  readonly signal?: AbortSignal | undefined
  /** After this time the server's error is thrown. Default: waits as long as it takes. */
  readonly forMs?: number | undefined
}

/**
 * Runs a step that may be repeated until the server can do it: a crawl waits for a Redis that is away or full, and loses
 * nothing. Rejects at once with any other error.
 */
export async function patiently<T>(step: () => Promise<T>, patience: Patience): Promise<T> {
  const { logger, times, what, signal, forMs = Number.POSITIVE_INFINITY } = patience
  const startedAt = performance.now()
  const told = toldBy(logger)
  /** This call tells for all that wait for the same. */
  let tells = false
  for (let waitMs = times.waitMsMin; ; waitMs = Math.min(waitMs * 2, times.waitMsMax)) {
    try {
      const done = await step()
      if (tells) {
        told.delete(what)
        logger.info(`${what} goes on: Redis accepts it again`)
      }
      return done
    } catch (error) {
      const now = performance.now()
      if (!isPassing(error) || signal?.aborted || now - startedAt >= forMs) throw error
      if (now - (told.get(what) ?? Number.NEGATIVE_INFINITY) >= TELL_EVERY_MS) {
        tells = true
        told.set(what, now)
        const why = storeTrouble(error) === 'full' ? `: ${FULL_TEXT}` : ''
        logger.warn({ reason: (error as Error).message }, `${what} must wait${why}; trying again`)
      }
      await sleep(waitMs, undefined, signal && { signal }).catch(() => {})
    }
  }
}

/** By crawl's log: when each wait was told. Each page in flight may wait for the same. */
const TOLD = new WeakMap<Logger, Map<string, number>>()

function toldBy(logger: Logger): Map<string, number> {
  const known = TOLD.get(logger) ?? new Map<string, number>()
  TOLD.set(logger, known)
  return known
}

const FULL_TEXT =
  'Redis has reached its maxmemory. CONFIG SET maxmemory gives it more; a queue in this Redis makes room as it is fetched'

/** Returns true when the same step may succeed later. */
export function isPassing(error: unknown): boolean {
  return storeTrouble(error) !== undefined
}

/** Throws that a lease is lost, where it was while a server was waited for: that counts, whatever the server said last. */
export function throwLostOr(error: unknown, { signal }: Pick<Lease, 'signal'>): never {
  if (isPassing(error)) signal.throwIfAborted()
  throw error
}
