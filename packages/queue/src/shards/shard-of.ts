import { hash } from 'node:crypto'

/**
 * The shard of a politeness slot, by the number of shards. Other bytes of the slot's SHA-1 than those that its bucket is taken from: else a
 * shard would have only some of the buckets.
 */
export function shardOf(slot: string, shards: number): string {
  return shardName(Number.parseInt(hash('sha1', slot).slice(8, 16), 16) % shards, shards)
}

/** Two digits, or as many as the last of them has. */
export function shardName(n: number, shards: number): string {
  return String(n).padStart(Math.max(2, String(shards - 1).length), '0')
}
