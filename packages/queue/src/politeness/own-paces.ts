/**
 * Which slots may be asked less often, or for less at once, than those of their bucket that no setting names. Redis is told the usual delay with each
 * turn, and what was learned of a slot is in its record; when a worker is lost, a delay of DOWNLOAD_SLOTS is known to neither.
 */

import type { HostPace } from '@webloom/core'
import { mostAtOnce } from './host-pace.ts'
import { slotKey } from './slot-key.ts'

export interface OwnPacesOptions {
  /** The slots with a pace of their own: those that DOWNLOAD_SLOTS names, and those with an order. */
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
}: OwnPacesOptions): ReadonlyMap<string, ReadonlyMap<string, number>> {
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
 * Returns by bucket the fewest requests that one of its slots with a pace of its own may have at once. Until a request is taken nobody knows of
 * which slot it is, and what is taken beyond that would lie at its worker and wait.
 */
export function fewestAtOnce({
  named,
  pace,
  bucketOf,
}: Omit<OwnPacesOptions, 'usualPace'>): ReadonlyMap<string, number> {
  const buckets = new Map<string, number>()
  for (const name of named) {
    const bucket = bucketOf(slotKey(name))
    const most = mostAtOnce(pace(name))
    buckets.set(bucket, Math.min(most, buckets.get(bucket) ?? most))
  }
  return buckets
}
