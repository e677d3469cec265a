/**
 * Which slots may be asked less often, or for less at once, than those of their bucket that no setting names. Redis is told the usual delay with each
 * turn, and what was learned of a slot is in its record; when a worker is lost, a delay of DOWNLOAD_SLOTS is known to neither.
 */

import type { HostPace } from '@webloom/core'
import { slotKey } from './slot-key.ts'

export interface OwnDelaysOptions {
  /** The slots that DOWNLOAD_SLOTS names. */
  readonly named: readonly string[]
  readonly pace: (slot: string) => HostPace
  readonly usualPace: HostPace
  readonly bucketOf: (slot: string) => string
}

/** Returns by bucket its slots with a longer delay than the usual one, each with that (ms). */
export function ownDelays({
  named,
  pace,
  usualPace,
  bucketOf,
}: OwnDelaysOptions): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const buckets = new Map<string, Map<string, number>>()
  for (const name of named) {
    const { delayMs } = pace(name)
    if (delayMs <= usualPace.delayMs) continue
    const slot = slotKey(name)
    const bucket = bucketOf(slot)
    const delays = buckets.get(bucket) ?? new Map<string, number>()
    buckets.set(bucket, delays.set(slot, Math.ceil(delayMs)))
  }
  return buckets
}

/**
 * Returns by bucket how many requests a slot may have at once of which one with a pace of its own may turn out to be: before it is taken
 * nobody knows which slot is next. What comes beyond that would lie at its worker, and wait for the others of its slot.
 */
export function fewestAtOnce({ named, pace, bucketOf }: OwnDelaysOptions): ReadonlyMap<string, number> {
  const buckets = new Map<string, number>()
  for (const name of named) {
    const { delayMs, concurrency } = pace(name)
    const most = delayMs > 0 ? 1 : concurrency > 0 ? concurrency : Number.POSITIVE_INFINITY
    const bucket = bucketOf(slotKey(name))
    buckets.set(bucket, Math.min(most, buckets.get(bucket) ?? most))
  }
  return buckets
}
