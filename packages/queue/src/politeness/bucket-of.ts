import { hash } from 'node:crypto'

/**
 * How many buckets a crawl has. Fixed, as workers must agree. Each has a job, a lock and a lease of its own, so workers beyond
 * that number would have none; and each is renewed, so that many more would cost a worker that has them all.
 */
export const BUCKETS = 256

/** Tells a bucket's name from a slot's. */
export function isBucket(unit: string): boolean {
  return unit.startsWith('#')
}

/** Returns the bucket of a slot, as a unit's name: no slot's name begins with that sign. */
export function bucketOf(slot: string): string {
  return `#${Number.parseInt(hash('sha1', slot).slice(0, 4), 16) % BUCKETS}`
}
