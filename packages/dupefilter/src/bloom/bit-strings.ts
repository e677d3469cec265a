import { setTimeout as sleep } from 'node:timers/promises'
import { redisError, storeTrouble } from '@webloom/core'
import type { BloomLayer, BloomMode } from '../bloom-sizing/bloom-parameters.ts'
import { companionKey } from '../redis/filter-keys.ts'
import type { RedisConnection } from '../redis/redis-script.ts'

/** Bits looked up in one call: Redis serves nobody else for about 2 ms. */
export const MAX_BITS_PER_CALL = 1900

/**
 * Returns the key of a block's bits. The first block has the main key; with liuxingming each key ends in the block's
 * number.
 */
export function bitsKey(main: string, mode: BloomMode, layer: number, block: number): string {
  if (mode.startsWith('liuxingming')) return `${main}${block}`
  return layer === 0 && block === 0 ? main : companionKey(main, `bits:${layer}:${block}`)
}

/** Returns the keys of one layer, block after block. */
export function layerKeys(main: string, mode: BloomMode, { blocks }: BloomLayer, number: number): string[] {
  return Array.from({ length: blocks }, (_, block) => bitsKey(main, mode, number, block))
}

/**
 * A string grows to the bit that is set, and Redis serves no other client while it fills the new part with zeros: 99 ms for
 * 128 MiB at once. In steps of 1 MiB no step took longer than 6 ms (the allocator mostly grows in place; 110 ms in all),
 * except one step of 127 ms in 512 MiB, when it had to copy. Up to 4 MiB (3 ms) a string grows by itself.
 */
const STEP_BYTES = 2 ** 20
const SELF_GROWN_BYTES_MAX = 4 * 2 ** 20
/** Replicas fill the new part, too. Meanwhile they are late, and a master that needs one near (min-replicas-max-lag) takes nothing. */
const HELD_MS_MAX = 30_000
const HELD_LOOK_MS = 250

/** Makes a string of bits as long as it will become. No bit changes, even when other workers set some meanwhile. */
export async function growBits(redis: RedisConnection, key: string, bits: number): Promise<void> {
  const bytes = Math.ceil(bits / 8)
  if (bytes <= SELF_GROWN_BYTES_MAX) return
  let length = await redis.strlen(key)
  while (length < bytes) {
    length = Math.min(bytes, length + STEP_BYTES)
    const lastBit = String(length * 8 - 1)
    // Adds 0 to the last bit: the bit stays, and the string is long enough for it.
    await whenTaken(() => redis.bitfield(key, 'INCRBY', 'u1', lastBit, '0'))
  }
}

/** Runs a step again while Redis takes no writes for a moment, for `HELD_MS_MAX` at most. */
async function whenTaken(step: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + HELD_MS_MAX
  for (;;) {
    try {
      await step()
      return
    } catch (error) {
      if (storeTrouble(redisError(error)) !== 'passing' || performance.now() > until) throw error
      await sleep(HELD_LOOK_MS)
    }
  }
}

/** Returns how many more bytes Redis would need for these strings to have `bits` bits each. Small strings are not counted. */
export async function missingBytes(
  redis: RedisConnection,
  keys: readonly string[],
  bits: number,
): Promise<number> {
  const bytes = Math.ceil(bits / 8)
  if (bytes <= SELF_GROWN_BYTES_MAX) return 0
  const lengths = await Promise.all(keys.map((key) => redis.strlen(key)))
  return lengths.reduce(
    (sum, length) => sum + (length < bytes ? allocatedBytes(bytes) - allocatedBytes(length) : 0),
    0,
  )
}

/**
 * Returns how many bytes a string counts for maxmemory. jemalloc has four sizes between a power of two and the next, so
 * that 128 MiB and a header take 160. Pages that were never touched take no memory of the machine.
 */
function allocatedBytes(length: number): number {
  const size = length + STRING_HEADER_BYTES
  const step = 2 ** (Math.floor(Math.log2(size)) - 2)
  return length === 0 ? 0 : Math.ceil(size / step) * step
}

const STRING_HEADER_BYTES = 10

/**
 * Returns how many bytes a Redis may still take: up to its maxmemory, or to the memory of its machine. To fill it
 * completely would have other clients' writes refused or, with an evicting policy, their data deleted.
 */
export async function roomFor(redis: RedisConnection): Promise<number> {
  // In a cluster one of many servers would answer, perhaps not the one that has the keys.
  if (redis.isCluster) return Number.POSITIVE_INFINITY
  const info = await redis.info('memory')
  const bytes = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)
  const most = bytes('maxmemory') || bytes('total_system_memory') || Number.POSITIVE_INFINITY
  return most - bytes('used_memory')
}

/** Bits are counted in slices, as Redis serves no other client while it counts: a slice takes less than a millisecond. */
const COUNT_BYTES = 4 * 2 ** 20

export async function countBits(redis: RedisConnection, key: string): Promise<number> {
  const length = await redis.strlen(key)
  let set = 0
  for (let from = 0; from < length; from += COUNT_BYTES) {
    set += await redis.bitcount(key, from, from + COUNT_BYTES - 1)
  }
  return set
}
