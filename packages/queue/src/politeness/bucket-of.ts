import { hash } from 'node:crypto'

/**
 * How many buckets a crawl has. Fixed, as workers must agree. Each has a job, a lock and a lease of its own, so workers beyond
 * that number would have none; and each is renewed and spoken of on its own, so that many more would cost a worker that has them all.
 */
export const BUCKETS = 256

/** Returns how many buckets each shard of a crawl has that begins now: together about as many as a crawl of one has. */
export function bucketsOfShard(shards: number): number {
  return Math.ceil(BUCKETS / shards)
}

/** Tells a bucket's name from a slot's. */
export function isBucket(unit: string): boolean {
  return unit.startsWith('#')
}

/** Returns the bucket of a slot among so many, as a unit's name: no slot's name begins with that sign. */
export function bucketOf(slot: string, buckets: number): string {
  return `#${Number.parseInt(hash('sha1', slot).slice(0, 4), 16) % buckets}`
}
